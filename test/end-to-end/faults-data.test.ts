import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';

const patience = { limitMs: 60_000 };
/** The number of executions in a flood; 100,000 need an idle machine. */
const size = Number(process.env['FAULTS_SIZE'] ?? 10_000);

type Given = {
  readonly more?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly backfill?: string;
  readonly isFree?: boolean;
  /** The maximum number of jobs with their own series. */
  readonly cap?: number;
};

/** A service without events of its own, and a daemon with only the collector `executions`. */
async function setUp(
  fill: (simulator: Simulator) => void,
  { more = '', env = {}, backfill = '2h', isFree = false, cap = 500 }: Given = {},
) {
  const simulator = await startSimulator({ scenario: 'empty', retained: 1e9, ...(isFree ? { clock: 'free' } : {}) });
  onTestFinished(() => simulator.stop());
  fill(simulator);
  const daemon = await startDaemon({
    yaml: `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN, budget: { requests_per_second: 500 } }]
collectors: { executions: { enabled: true, every: 1s }, projects: { enabled: true } }
executions: { backfill: ${backfill}, max_delay: 1s }
metrics: { hold_new_series: 0s }
jobs: { cap: ${cap} }
${more}`,
    token: simulator.token,
    flags: ['--collector.disable-defaults'],
    env,
  });
  onTestFinished(daemon.stop);
  return { simulator, daemon };
}

/** A trace backend that accepts everything and reports the size of each request. */
async function startTraceBackend(tell: (bytes: number) => void): Promise<string> {
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => {
      tell(bytes);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
  });
  // This cast is safe: the address of a TCP server has a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The values of a family by their labels in a scrape. */
async function read({ url }: Daemon, family: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(30_000) })).text();
  const found = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line.startsWith(`${family}{`))
      found.set(line.slice(family.length, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1)));
  }
  return found;
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

function unescape(value: string): string {
  return value.replaceAll(/\\(.)/g, (_all, letter: string) => (letter === 'n' ? '\n' : letter));
}

const hostile = [
  'a "quoted" name',
  'back\\slash',
  'two\nlines',
  'comma, brace } and {equals="x"} 1',
  'nul \u0000 inside',
  'emoji \u{1f680}',
  '__proto__',
  'constructor',
  'a/b',
  '$'.concat('{jndi:ldap://x}'),
  '<script>alert(1)</script>',
];

describe('end-to-end/faults of data', { timeout: 240_000 }, () => {
  it('faults/row-38: names with special characters are unchanged', async () => {
    const { daemon } = await setUp(({ control }) => {
      control.createProject('pay');
      const nowMs = Date.now();
      // The joined texts of these labels are equal.
      const pairs = [
        ...hostile.map((name) => ['group', name]),
        ['x', 'y,z'],
        ['x,y', 'z'],
        ['x"', 'y'],
        ['x', '"y'],
      ] as const;
      for (const [index, [group = '', name = '']] of pairs.entries()) {
        const jobId = control.createJob('pay', { name, group });
        for (let run = 0; run <= index; run += 1)
          control.addFinished('pay', { jobId, startedAtMs: nowMs - 60_000 + run, endedAtMs: nowMs - 50_000 + run });
      }
    });
    await eventually(async () => {
      const values = await read(daemon, 'automation_executions_total');
      const succeeded = [...values].filter(([labels, value]) => labels.includes('status="succeeded"') && value > 0);
      const names = succeeded.map(([labels]) => unescape(/job_name="((?:[^"\\]|\\.)*)"/.exec(labels)?.[1] ?? ''));
      expect(names.toSorted()).toEqual([...hostile, 'y,z', 'z', 'y', '"y'].toSorted());
      // Each job has run once more than the job before it.
      expect(succeeded.map(([, value]) => value).sort((one, other) => one - other)).toEqual(
        names.map((_name, index) => index + 1),
      );
    }, patience);
    const page = await (await fetch(`${daemon.url}/`)).text();
    expect(page).not.toContain('<script>');
  });

  it('faults/row-37: counts every run of many jobs with names of 10 kB', async () => {
    const longNames = 1000;
    const runs = size / 5 + longNames;
    const fill = ({ control }: Simulator): void => {
      control.createProject('pay');
      const nowMs = Date.now();
      // The oldest end is first.
      for (let job = runs - 1; job >= 0; job -= 1) {
        const name = job < longNames ? `${String(job)} ${'x'.repeat(10_000)}` : `job ${job}`;
        const jobId = control.createJob('pay', { name, group: '' });
        control.addFinished('pay', { jobId, startedAtMs: nowMs - 3_000_000, endedAtMs: nowMs - 60_000 - job * 50 });
      }
    };
    const { daemon } = await setUp(fill, { cap: 5000 });
    await eventually(async () => {
      const values = await read(daemon, 'automation_executions_total');
      expect(sum(values.values())).toBe(runs);
    }, patience);
    const text = await daemon.metrics();
    expect(text.length / 1e6).toBeLessThan(20);
    expect(text).toMatch(/job_name="__other__"/);
    const longest = Math.max(...[...text.matchAll(/job_name="([^"]*)"/g)].map(([, name = '']) => name.length));
    expect(longest).toBeLessThanOrEqual(1024);
  });

  it('faults/row-39: the trace of 100 steps on 200 nodes stays within its limit', async () => {
    const nodes = Array.from({ length: 200 }, (_, index) => `node-${index}`);
    const step = { kind: 'exec', text: 'do it', nodeStep: true, seconds: 1, failureChance: 0 } as const;
    const steps = Array.from({ length: 100 }, () => step);
    const work = { nodes, steps, keepGoing: false, timeoutMs: undefined, references: new Map() };
    const sizes: number[] = [];
    const backend = await startTraceBackend((bytes) => sizes.push(bytes));
    const fill = ({ control }: Simulator): void => {
      control.createProject('pay', nodes);
      const jobId = control.createJob('pay', { name: 'everywhere', group: '', work });
      control.addFinished('pay', { jobId, startedAtMs: Date.now() - 600_000, endedAtMs: Date.now() - 60_000 });
    };
    const { daemon } = await setUp(fill, {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: backend, OTEL_EXPORTER_OTLP_COMPRESSION: 'none' },
    });
    await eventually(async () => {
      const spans = /^automation_exporter_spans_exported_total (\d+)$/m.exec(await daemon.metrics())?.[1];
      expect(Number(spans)).toBeGreaterThan(4900);
      expect(Number(spans)).toBeLessThanOrEqual(5000);
    }, patience);
    await eventually(async () => {
      expect(sum((await read(daemon, 'automation_executions_total')).values())).toBe(1);
      expect([...(await read(daemon, 'automation_execution_nodes_total')).values()]).toEqual([200]);
    }, patience);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4 * 2 ** 20);
    const [id] = (await (await fetch(`${daemon.url}/`)).text()).match(/executions\/prod\/\d+/) ?? [];
    expect((await fetch(`${daemon.url}/${id}`)).status).toBe(200);
  });

  it('faults/row-40: counts each execution of a flood once', async () => {
    const runs = size;
    const { daemon } = await setUp(({ control }) => {
      control.createProject('pay');
      const jobId = control.createJob('pay', { name: 'busy', group: '' });
      const nowMs = Date.now();
      for (let run = runs - 1; run >= 0; run -= 1) {
        const endedAtMs = nowMs - 60_000 - Math.floor((run / runs) * 3_540_000);
        control.addFinished('pay', { jobId, startedAtMs: endedAtMs - 20, endedAtMs });
      }
    });
    await eventually(async () => expect(sum((await read(daemon, 'automation_executions_total')).values())).toBe(runs), {
      limitMs: 200_000,
    });
    // The round ends a moment later.
    await eventually(async () => {
      const [lag] = (await read(daemon, 'automation_exporter_execution_lag_seconds')).values();
      expect(lag).toBeLessThan(60);
    });
  });
});
