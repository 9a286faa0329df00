import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { toCostMs } from '../../simulator/answers/answer.ts';
import { dearQuestions, ourQuestions, prepareJobs, RealServer } from './real-server.ts';
import { readCpuMs, startServe } from './serving.ts';

/**
 * Measures the processor time of a real server for each request, and for a first start with 1,000 scheduled jobs.
 * `REAL_SERVER_URL`, `REAL_SERVER_TOKEN_FILE` (what `acl` allows) and `REAL_SERVER_ADMIN_TOKEN_FILE` (to create the
 * jobs in passive mode, so that they cost nothing themselves) name the server, `REAL_SERVER_PID` is its process on this
 * machine, `REAL_SERVER_PROJECTS` the prefix of its projects.
 */
const minutes = Number(process.env['REAL_SERVER_MINUTES'] ?? 60);
const baseMinutes = Math.min(5, minutes);

export async function run() {
  const server = new RealServer(
    required('REAL_SERVER_URL'),
    readFileSync(required('REAL_SERVER_ADMIN_TOKEN_FILE'), 'utf8').trim(),
    Number(required('REAL_SERVER_PID')),
  );
  const jobs = await prepareJobs(server);
  const rows = [...(await priceList(server, jobs))];
  const idle = await watch(server, baseMinutes * 60);
  const folder = mkdtempSync(join(tmpdir(), 'automation-exporter-real-server-'));
  writeFileSync(
    join(folder, 'config.yaml'),
    `servers: [{ name: real, url: ${server.url}, token_file: ${required('REAL_SERVER_TOKEN_FILE')} }]\n`,
  );
  const exporter = await startServe(folder);
  try {
    const start = await watch(server, baseMinutes * 60);
    const after = await watch(server, (minutes - baseMinutes) * 60);
    const metrics = await (await fetch(`${exporter.url}/metrics`)).text();
    rows.push(
      share('first start', start, idle),
      share(`the ${String(minutes - baseMinutes)} minutes after`, after, idle),
      {
        what: 'least used heap of the server: in the minutes before, at the start, in the last minutes',
        figure: `${toMb(idle.minHeap)}, ${toMb(start.minHeap)}, ${toMb(after.lastLeastHeap)} MB`,
        mustReach: 'at most 10 % more than before',
        reached: after.lastLeastHeap <= idle.minHeap * 1.1,
      },
      {
        what: 'slowest request that the exporter sent',
        figure: `${slowest(metrics)} s or less`,
        mustReach: '<= 0.5 s',
        reached: slowest(metrics) <= 0.5,
      },
      {
        what: 'requests a minute',
        figure: ((requests(metrics) / minutes) | 0).toString(),
        mustReach: 'none',
        reached: true,
      },
      {
        what: 'CPU time of the exporter',
        figure: `${(readCpuMs(exporter.pid) / 1000 / minutes).toFixed(2)} s a minute`,
        mustReach: 'none',
        reached: true,
      },
    );
    console.log(exporter.log().split('\n').slice(-15).join('\n'));
  } finally {
    await exporter.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}

async function priceList(server: RealServer, jobs: ReadonlyMap<string, string>) {
  const rows = [];
  for (const { name, path, isOurs } of [
    ...ourQuestions(jobs).map((row) => ({ ...row, isOurs: true })),
    ...dearQuestions(jobs).map((row) => ({ ...row, isOurs: false })),
  ]) {
    const { cpuMs, wallMs, status, body } = await server.price(path);
    const simulatedMs = toCostMs(`/api/${path}`, { json: toRows(body) });
    const isAlike = Math.abs(cpuMs - simulatedMs) <= Math.max(10, simulatedMs / 2);
    rows.push({
      what: `request ${name}`,
      figure: `${cpuMs.toFixed(1)} ms of CPU time (simulator: ${simulatedMs.toFixed(1)}), ${wallMs.toFixed(0)} ms, HTTP ${String(status)}, ${String(body.length)} bytes`,
      mustReach: isOurs ? '<= 500 ms of CPU time, as in the simulator' : 'none: the exporter does not send it',
      reached: !isOurs || (cpuMs <= 500 && isAlike),
    });
  }
  return rows;
}

function toRows(body: string): unknown {
  return /^[[{]/.test(body) ? JSON.parse(body) : undefined;
}

type Span = { readonly cpuShare: number; readonly minHeap: number; readonly lastLeastHeap: number };

/** Measures the share of one core that the server used, and its heap. */
async function watch(server: RealServer, seconds: number): Promise<Span> {
  const cpuMs = readCpuMs(server.pid);
  const startMs = performance.now();
  const heaps: number[] = [];
  while (performance.now() - startMs < seconds * 1000) {
    heaps.push(await server.readHeap());
    await setTimeout(5000);
  }
  return {
    cpuShare: (readCpuMs(server.pid) - cpuMs) / (performance.now() - startMs),
    minHeap: Math.min(...heaps),
    lastLeastHeap: Math.min(...heaps.slice(-60)),
  };
}

function share(name: string, span: Span, idle: Span) {
  const ours = (span.cpuShare - idle.cpuShare) * 100;
  return {
    what: `CPU time of the server, ${name}`,
    figure: `${(span.cpuShare * 100).toFixed(1)} % of a core, without the exporter ${(idle.cpuShare * 100).toFixed(1)} %: ${ours.toFixed(1)} % for the exporter`,
    mustReach: '<= 2 %',
    reached: ours <= 2,
  };
}

/** Returns the upper bound of the highest bucket with a request. */
function slowest(metrics: string): number {
  const bounds = new Map<number, number>();
  for (const [, bound = '', count] of metrics.matchAll(
    /^automation_exporter_api_request_duration_seconds_bucket\{.*le="([^"]+)".*\} (\d+)/gm,
  ))
    bounds.set(Number(bound.replace('+Inf', 'Infinity')), (bounds.get(Number(bound)) ?? 0) + Number(count));
  const all = bounds.get(Number.POSITIVE_INFINITY) ?? 0;
  return Math.min(...[...bounds].filter(([, count]) => count === all).map(([bound]) => bound));
}

function requests(metrics: string): number {
  return [...metrics.matchAll(/^automation_exporter_api_request_duration_seconds_count\{.*\} (\d+)/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}

function toMb(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}
