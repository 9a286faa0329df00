import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { readRequest } from '../../simulator/traces/read-request.ts';
import { readSteps } from './real-journal.ts';
import { RealServer } from './real-server.ts';
import { readCpuMs } from './serving.ts';

/**
 * `node bench/long/real-recorder.ts`: records what a real server shows and which spans arrive, until it is stopped. `real-day`
 * compares the exporter with the notes. `REAL_SERVER_URL` and `REAL_SERVER_ADMIN_TOKEN_FILE` name the server, `REAL_DAY_FOLDER`
 * the folder of the notes, `REAL_DAY_TRACES_PORT` the port for traces, `REAL_SERVER_PID_FILE` and `REAL_EXPORTER_PID_FILE` the
 * measured processes.
 */
const folder = required('REAL_DAY_FOLDER');
const server = new RealServer(
  required('REAL_SERVER_URL'),
  readFileSync(required('REAL_SERVER_ADMIN_TOKEN_FILE'), 'utf8').trim(),
  0,
);
/** Rows become visible up to 50 s after their end; then they are read again. */
const windowMs = 180_000;

takeTraces(Number(required('REAL_DAY_TRACES_PORT')));
writeFileSync(join(folder, 'recorder.pid'), String(process.pid));
const seen = new Map<number, string>();
const listed = new Map<string, string>();
let readThroughMs = Date.now();
let jobsDueMs = 0;
let known: readonly string[] = [];
for (;;) {
  const atMs = Date.now();
  const used = { server: readCpu('REAL_SERVER_PID_FILE'), exporter: readCpu('REAL_EXPORTER_PID_FILE') };
  try {
    note('readings', { atMs, ...(await readServer()), ...used });
    await look(atMs);
    readThroughMs = atMs;
  } catch (error) {
    note('readings', { atMs, failed: String(error).slice(0, 200), ...used });
  }
  await setTimeout(Math.max(1000, atMs + 5000 - Date.now()));
}

async function readServer(): Promise<object> {
  const { system } = (await server.json('47/system/info')) as SystemInfo;
  const { scheduler, uptime } = system.stats;
  return {
    mode: system.executions.executionMode,
    sinceMs: uptime.since.epoch,
    running: scheduler.running,
    threads: scheduler.threadPoolSize,
  };
}

async function look(atMs: number): Promise<void> {
  const projects = (await server.json('47/projects?meta=config')) as Projects;
  for (const { name } of projects) await noteEnded(name, readThroughMs - windowMs);
  if (atMs < jobsDueMs) return;
  for (const { name, meta } of projects) await noteJobs(name, meta);
  for (const name of known) if (!projects.some((each) => each.name === name)) noteProject(name, [], []);
  known = projects.map(({ name }) => name);
  jobsDueMs = atMs + 10_000;
}

type SystemInfo = {
  readonly system: {
    readonly executions: { readonly executionMode: string };
    readonly stats: {
      readonly uptime: { readonly since: { readonly epoch: number } };
      readonly scheduler: { readonly running: number; readonly threadPoolSize: number };
    };
  };
};
type Projects = readonly { readonly name: string; readonly meta: unknown }[];

/** Notes each finished row with its steps, again after each change. */
async function noteEnded(project: string, sinceMs: number): Promise<void> {
  const rows = await server.listEnded(project, sinceMs, Date.now() + 60_000);
  for (const row of rows) {
    const text = JSON.stringify(row);
    const isSettled = Date.now() - row['date-ended'].unixtime > 60_000;
    const mark = `${String(isSettled)} ${text}`;
    if (seen.get(row.id) === mark) continue;
    seen.set(row.id, mark);
    note('executions', { atMs: Date.now(), row, ...(await readSteps(server, row)) });
  }
}

/** Notes the definitions of the jobs and the switches of the project, after each change. */
async function noteJobs(project: string, meta: unknown): Promise<void> {
  const jobs = (await server.json(`58/project/${project}/jobs`)) as readonly { readonly id: string }[];
  noteProject(
    project,
    meta,
    jobs.map(({ id }) => id),
  );
  for (const job of jobs) {
    const [definition] = (await server.json(`47/job/${job.id}`)) as readonly unknown[];
    noteChange(job.id, 'jobs', { project, job, definition });
  }
}

function noteProject(project: string, meta: unknown, ids: readonly string[]): void {
  noteChange(`project ${project}`, 'projects', { project, meta, ids });
}

function noteChange(key: string, file: string, what: object): void {
  const text = JSON.stringify(what);
  if (listed.get(key) === text) return;
  listed.set(key, text);
  note(file, { atMs: Date.now(), ...what });
}

function note(file: string, what: object): void {
  appendFileSync(join(folder, `${file}.jsonl`), `${JSON.stringify(what)}\n`);
}

function readCpu(name: string): { readonly pid: number; readonly cpuMs: number } | null {
  try {
    const pid = Number(readFileSync(process.env[name] ?? '', 'utf8'));
    return { pid, cpuMs: readCpuMs(pid) };
  } catch {
    return null;
  }
}

function takeTraces(port: number): void {
  const sink = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const spans = request.url === '/v1/traces' ? readRequest(isGzip(request) ? gunzipSync(body) : body) : [];
      for (const span of spans) {
        const links = span.links.map(({ traceId, attributes }) => ({ traceId, ...Object.fromEntries(attributes) }));
        const [attributes, resource] = [Object.fromEntries(span.attributes), Object.fromEntries(span.resource)];
        note('spans', { atMs: Date.now(), ...span, attributes, resource, links });
      }
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  sink.listen(port, '127.0.0.1');
}

function isGzip({ headers }: IncomingMessage): boolean {
  return headers['content-encoding'] === 'gzip';
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}
