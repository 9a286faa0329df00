import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startSimulator } from '../../simulator/simulator.ts';
import { readMemoryMb, type Serving, startServe } from './serving.ts';

/** The duration of each hostile way. */
const seconds = Number(process.env['HOSTILE_SECONDS'] ?? 120);
/** The memory limit of the process in a Linux control group; unlimited if absent. */
const limitMb = Number(process.env['HOSTILE_LIMIT_MB'] ?? 0);
const ceilingMb = 256;
const ways = [
  'values',
  'values-gzip',
  'nesting',
  'nesting-closed',
  'endless',
  'string',
  'keys',
  'keys-gzip',
  'bomb',
  'bomb-of-rows',
];

/** Two servers; one sends too large answers in many ways. Measures the cost for the process and for the other server. */
export async function run() {
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-hostile-'));
  const group = `/sys/fs/cgroup/memory/automation-exporter-bench-${process.pid}`;
  const simulator = await startSimulator({ scenario: 'quiet-day' });
  const hostile = await startHostile();
  writeFileSync(join(directory, 'token'), `${simulator.token}\n`, { mode: 0o600 });
  writeFileSync(join(directory, 'config.yaml'), configure(hostile.url, simulator.url));
  let serving: Serving | undefined;
  try {
    serving = await startServe(directory, limitMb > 0 ? limitedBy(group) : []);
    const before = await watch(serving, Math.min(60, seconds));
    const found = [];
    for (const way of ways) {
      await hostile.become(way);
      found.push({ way, ...(await watch(serving, seconds)) });
    }
    const asked = await hostile.become('well');
    const after = await watch(serving, 60);
    return [
      toFigure('calm', before, 0),
      ...found.map(({ way, ...seen }, index) => toFigure(way, seen, asked[index + 1] ?? 0)),
      {
        what: 'memory above the start after a minute',
        figure: `${after.minMb.toFixed(0)} MB, ${before.lastMb.toFixed(0)} MB before`,
        mustReach: 'at most 40 MB more than before',
        reached: after.minMb < before.lastMb + 40,
      },
      {
        what: 'the highest memory',
        figure: `${readMemoryMb(serving.pid, 'VmHWM').toFixed(0)} MB`,
        mustReach: `< ${ceilingMb} MB`,
        reached: readMemoryMb(serving.pid, 'VmHWM') < ceilingMb,
      },
    ];
  } finally {
    await serving?.stop();
    await hostile.stop();
    await simulator.stop();
    rmSync(directory, { recursive: true, force: true });
    if (limitMb > 0) rmdirSync(group);
  }
}

function limitedBy(group: string): string[] {
  mkdirSync(group);
  writeFileSync(join(group, 'memory.limit_in_bytes'), `${limitMb}M`);
  return ['sh', '-c', `echo $$ > ${group}/cgroup.procs; exec "$@"`, 'sh'];
}

function configure(hostileUrl: string, url: string): string {
  const often = ['projects', 'project-jobs', 'project-nodes', 'tokens', 'threads', 'cluster-jobs', 'stored-keys'];
  const names = [
    ...often,
    'executions',
    'log-storage-incomplete',
    'job-info',
    'app-metrics',
    'healthcheck',
    'system-info',
  ];
  return `servers:
  - { name: hostile, url: '${hostileUrl}', token_file: token, budget: { requests_per_second: 50, concurrency: 4 } }
  - { name: well, url: '${url}', token_file: token }
collectors:
${names.map((name) => `  ${name}: { enabled: true, every: 5s }\n`).join('')}`;
}

type Seen = {
  readonly scrapesMs: readonly number[];
  readonly maxMb: number;
  readonly minMb: number;
  readonly lastMb: number;
  readonly stalenessSeconds: number;
  readonly loopMs: number;
};

/** Scrapes and measures memory for this many seconds. */
async function watch({ url, pid }: Serving, forSeconds: number): Promise<Seen> {
  const scrapesMs: number[] = [];
  const memory: number[] = [];
  const polls: number[] = [];
  const loops: number[] = [];
  const untilMs = performance.now() + forSeconds * 1000;
  while (performance.now() < untilMs) {
    const begunMs = performance.now();
    const text = await (await fetch(`${url}/metrics`)).text();
    scrapesMs.push(performance.now() - begunMs);
    memory.push(readMemoryMb(pid, 'VmRSS'));
    const at = /last_success_timestamp_seconds\{server="well",collector="system-info"\} (\S+)/.exec(text)?.[1];
    if (at !== undefined) polls.push(Date.now() / 1000 - Number(at));
    loops.push(Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1] ?? 0) * 1000);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return {
    scrapesMs: scrapesMs.toSorted((one, other) => one - other),
    maxMb: Math.max(...memory),
    minMb: Math.min(...memory),
    lastMb: memory.at(-1) ?? 0,
    stalenessSeconds: Math.max(...polls),
    loopMs: Math.max(...loops),
  };
}

function toFigure(way: string, { scrapesMs, maxMb, stalenessSeconds, loopMs }: Seen, asked: number) {
  const [median = 0, p99 = 0] = [0.5, 0.99].map((share) => scrapesMs[Math.floor(scrapesMs.length * share)]);
  const slowest = scrapesMs.at(-1) ?? 0;
  return {
    what: way,
    figure: `at most ${maxMb.toFixed(0)} MB; scrapes ${median.toFixed(0)} ms, p99 ${p99.toFixed(0)}, slowest ${slowest.toFixed(0)}; loop held up ${loopMs.toFixed(0)} ms; the other server's polls at most ${stalenessSeconds.toFixed(0)} s old; ${asked} hostile answers`,
    mustReach: `< ${ceilingMb} MB, scrapes < 1 s, polls < 12 s`,
    reached: maxMb < ceilingMb && slowest < 1000 && stalenessSeconds < 12,
  };
}

async function startHostile() {
  const script = fileURLToPath(new URL('./hostile-server.ts', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value ?? '');
  const url = await next();
  const asked: number[] = [];
  return {
    url,
    /** Selects the way; returns the number of requests by way. */
    become: async (way: string): Promise<readonly number[]> => {
      child.stdin.write(`${way}\n`);
      asked.push(Number((await next()).replace('asked ', '')));
      return asked;
    },
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
