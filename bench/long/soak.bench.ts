import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';

const minutes = Number(process.env['SOAK_MINUTES'] ?? 60);
/** The speed of the clock. An hour simulates 72 days: ids are kept for nine days, deleted jobs for thirty. */
const speed = 72 * 24;
const perSecond = Number(process.env['SOAK_RUNS_PER_SECOND'] ?? 25);
const measuredEveryMs = Math.min(30_000, minutes * 500);

/**
 * A daemon with all collectors over 72 days, with changing jobs, outages of the trace backend, clients and reloads.
 * Compares the memory in the last two quarters.
 */
export async function run() {
  const startMs = Date.now();
  const stateDirectory = mkdtempSync(join(tmpdir(), 'automation-exporter-soak-'));
  const now = (): number => startMs + (Date.now() - startMs) * speed;
  const simulator = await startSimulator({ scenario: 'empty', now, retained: 30_000 });
  const backend = await startBackend();
  const yaml = configure(simulator.url);
  const script = fileURLToPath(new URL('./soak-process.ts', import.meta.url));
  const given = [yaml, simulator.token, stateDirectory, backend.url, String(speed), String(startMs)];
  const daemon = spawn(process.execPath, ['--expose-gc', script, ...given], { stdio: ['pipe', 'pipe', 'inherit'] });
  const words: Record<string, unknown>[] = [];
  createInterface({ input: daemon.stdout }).on('line', (line) =>
    words.push(JSON.parse(line) as Record<string, unknown>),
  );
  const churn = createChurn(simulator, now);
  const measures: Measure[] = [];
  try {
    const { url } = (await nextWord(words, daemon)) as { readonly url: string };
    const endMs = performance.now() + minutes * 60_000;
    let measuredMs = performance.now();
    for (let turn = 0; performance.now() < endMs; turn += 1) {
      churn(turn);
      backend.setAway(turn % 3000 > 2700);
      if (turn % 10 === 0)
        await readAll(url, turn % 100 === 0 ? ['/metrics', '/', '/traces', '/api/status'] : ['/metrics']);
      if (turn % 600 === 599) daemon.stdin.write('reload\n');
      if (performance.now() - measuredMs >= measuredEveryMs) {
        measuredMs = performance.now();
        daemon.stdin.write('measure\n');
        // This cast is safe: the process prints these numbers.
        measures.push((await nextWord(words, daemon)) as Measure);
        note({ ...measures.at(-1), counted: await countOf(url), made: simulator.truth().executions.length });
      }
      await sleep(100);
    }
    return toFigures(measures);
  } finally {
    daemon.stdin.end();
    const force = setTimeout(() => daemon.kill('SIGKILL'), 20_000);
    await new Promise((resolve) => daemon.once('close', resolve));
    clearTimeout(force);
    backend.stop();
    await simulator.stop();
    rmSync(stateDirectory, { recursive: true, force: true });
  }
}

type Measure = Readonly<Record<'rssMb' | 'heapMb' | 'descriptors' | 'timers' | 'stateMb', number>>;

function toFigures(measures: readonly Measure[]) {
  const quarter = Math.floor(measures.length / 4);
  const third = measures.slice(-2 * quarter, -quarter);
  const last = measures.slice(-quarter);
  const compare = (key: keyof Measure, most: number, unit: string) => {
    const [before, after] = [third, last].map((part) => medianOf(part.map((measure) => measure[key])));
    const grown = (after ?? Number.NaN) - (before ?? Number.NaN);
    return {
      what: `growth of ${key} from the third to the last quarter`,
      figure: `${grown.toFixed(1)} of ${(before ?? Number.NaN).toFixed(1)}${unit}`,
      mustReach: `at most ${most}${unit}`,
      reached: grown <= most,
    };
  };
  const shares = (key: keyof Measure): number => medianOf(third.map((measure) => measure[key])) * 0.05;
  return [
    compare('rssMb', Number(Math.max(8, shares('rssMb')).toFixed(1)), ' MB'),
    compare('heapMb', Number(Math.max(2, shares('heapMb')).toFixed(1)), ' MB'),
    compare('stateMb', Number(Math.max(1, shares('stateMb')).toFixed(1)), ' MB'),
    compare('descriptors', 5, ''),
    compare('timers', 10, ''),
  ];
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}

/** Renders a configuration with polls as often as the fast clock allows; the steps of executions are read too. */
function configure(url: string): string {
  const slow = ['system-info', 'execution-mode', 'healthcheck', 'log-storage', 'app-metrics', 'execution-metrics'];
  const lists = ['projects', 'project-jobs', 'project-nodes', 'project-modes', 'job-info', 'cluster-jobs'];
  const others = ['tokens', 'threads', 'stored-keys', 'log-storage-incomplete', 'users', 'ping', 'acl-policies'];
  const rows = [...slow, ...lists, ...others].map((name) => `  ${name}: { enabled: true, every: 1h }\n`).join('');
  return `servers: [{ name: prod, url: '${url}', token_file: TOKEN, timeout: 10m, budget: { requests_per_second: 1000, concurrency: 16 } }]
collectors:
${rows}  executions: { every: 10m }
jobs: { top: 100, cap: 300 }
executions: { max_delay: 30m, overlap: 10m }
metrics: { hold_new_series: 10m }
log: { level: error }
`;
}

/** Creates jobs and their runs; each job is deleted after a while. */
function createChurn({ control }: Simulator, now: () => number): (turn: number) => void {
  // Projects are not deleted: their data would stay for thirty days.
  const projects = Array.from({ length: 8 }, (_, index) => `team-${index}`);
  for (const project of projects) control.createProject(project, [`${project}-a`, `${project}-b`]);
  const jobs: { readonly project: string; readonly id: string }[] = [];
  let made = 0;

  function createJob(): void {
    const project = projects[made % projects.length] ?? '';
    made += 1;
    const id = control.createJob(project, { name: `job ${made}`, group: `group-${made % 7}` });
    jobs.push({ project, id });
  }

  return (turn) => {
    if (turn % 5 === 0 || jobs.length < 120) {
      createJob();
      const gone = jobs.length > 120 ? jobs.shift() : undefined;
      if (gone !== undefined) control.deleteJob(gone.id);
    }
    for (let count = 0; count < perSecond / 10; count += 1) {
      const job = jobs[(turn * 7 + count * 13) % jobs.length];
      if (job === undefined) continue;
      const endedAtMs = now() - 1000;
      const status = (turn + count) % 9 === 0 ? 'failed' : 'succeeded';
      control.addFinished(job.project, { jobId: job.id, startedAtMs: endedAtMs - 60_000, endedAtMs, status });
    }
  };
}

/** A trace backend that accepts and discards traces; while it is away, it refuses connections. */
async function startBackend() {
  let isAway = false;
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(isAway ? 503 : 200).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // This cast is safe: the address of a TCP server has a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    setAway: (away: boolean) => {
      isAway = away;
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function nextWord(words: Record<string, unknown>[], daemon: ChildProcess): Promise<unknown> {
  for (let tries = 0; tries < 6000; tries += 1) {
    const word = words.shift();
    if (word !== undefined) return word;
    if (daemon.exitCode !== null) throw new Error(`the daemon ended with ${daemon.exitCode}`);
    await sleep(20);
  }
  throw new Error('the daemon prints nothing');
}

async function countOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const family = /^automation_exporter_executions_observed_total\{.*\} (\d+)$/gm;
  return [...text.matchAll(family)].reduce((sum, [, value]) => sum + Number(value), 0);
}

async function readAll(url: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) await (await fetch(`${url}${path}`)).text();
}

function note(words: object): void {
  const file = process.env['SOAK_LOG'];
  if (file !== undefined)
    appendFileSync(file, `${JSON.stringify({ atSeconds: Math.round(process.uptime()), ...words })}\n`);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
