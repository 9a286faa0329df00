import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { startCli } from '../support/child.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { type Prometheus, startPrometheus } from '../support/prometheus.ts';
import { describeWithTools } from '../support/tools.ts';

const hourMs = 3_600_000;
const stepMs = 300_000;
const beganMs = Date.now();
/** A full hour, two days before now. */
const sinceMs = Math.floor(beganMs / hourMs) * hourMs - 48 * hourMs;

/** Waits until a condition is true. */
function settled(isTrue: () => Promise<boolean>): Promise<void> {
  return eventually(async () => {
    if (!(await isTrue())) throw new Error('not yet');
  });
}

describeWithTools('end-to-end/history', ['prometheus', 'promtool'], ({ prometheus, promtool }) => {
  const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-history-'));
  let simulator: Simulator;
  let daemon: Daemon;
  let server: Prometheus;
  const jobs: string[] = [];

  function add(job: number, endedAtMs: number, status = 'succeeded') {
    const times = { startedAtMs: endedAtMs - 12_000, endedAtMs };
    simulator.control.addFinished('pay', { jobId: jobs[job] ?? '', status, type: 'scheduled', ...times });
  }

  function countTrue(fromMs: number, toMs: number, status: string): number {
    return simulator
      .truth()
      .executions.filter((one) => one.status === status)
      .filter(({ endedAtMs = 0 }) => endedAtMs > fromMs && endedAtMs <= toMs).length;
  }

  beforeAll(async () => {
    simulator = await startSimulator({ scenario: 'empty', retained: Number.POSITIVE_INFINITY });
    simulator.control.createProject('pay', ['web01']);
    for (const name of ['a', 'b', 'c']) jobs.push(simulator.control.createJob('pay', { name }));
    const ends = Array.from(
      { length: 200 },
      (_, at) => sinceMs + 60_000 + Math.floor((at * (beganMs - sinceMs - hourMs)) / 200),
    );
    for (const [at, endedAtMs] of ends.entries())
      add(at % 40 === 0 ? 1 : 0, endedAtMs, at % 9 === 0 ? 'failed' : 'succeeded');
    daemon = await startDaemon({
      token: simulator.token,
      yaml: `
servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN }]
collectors: { executions: { every: 2s } }
metrics: { hold_new_series: 6s }
`,
    });
    await settled(async () => (await (await fetch(`${daemon.url}/api/status`)).text()).includes('"counted_since":"2'));
    const target = new URL(daemon.url).host;
    writeFileSync(join(dir, 'token'), simulator.token, { mode: 0o600 });
    const command = startCli(
      [
        'history',
        'prod',
        `--since=${new Date(sinceMs).toISOString()}`,
        `--url=${daemon.url}`,
        '--label=job=automation',
        `--label=instance=${target}`,
      ],
      {
        cwd: dir,
        env: {
          AUTOMATION_EXPORTER_NAME: 'prod',
          AUTOMATION_EXPORTER_URL: simulator.url,
          AUTOMATION_EXPORTER_TOKEN_FILE: join(dir, 'token'),
          AUTOMATION_EXPORTER_EXECUTIONS_OVERLAP: '2s',
        },
      },
    );
    await command.waitFor(/history\.om: 200 executions from/);
    await command.stop();
    const data = join(dir, 'data');
    execFileSync(
      promtool,
      ['tsdb', 'create-blocks-from', 'openmetrics', '--max-block-duration=162h', 'history.om', data],
      { cwd: dir },
    );
    server = await startPrometheus({ prometheus, target, job: 'automation', data });
    await settled(async () => (await valueOf('up')) === 1);
    // The daemon counts all later executions.
    add(0, Date.now());
    add(1, Date.now(), 'failed');
    add(2, Date.now());
    await settled(async () => (await valueOf('sum(automation_executions_total)')) === 3);
  });

  afterAll(async () => {
    await server?.stop();
    await daemon?.stop();
    await simulator?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  async function valueOf(query: string, atMs = Date.now()): Promise<number> {
    const found = (await server.get(`/api/v1/query?time=${atMs / 1000}&query=${encodeURIComponent(query)}`)) as {
      result: readonly { value: readonly [number, string] }[];
    };
    return Number(found.result[0]?.value[1] ?? 0);
  }

  it.each(['succeeded', 'failed'])('writes the true totals of each day: %s', async (status) => {
    const counted = (atMs: number) =>
      valueOf(`sum(last_over_time(automation_executions_total{status="${status}"}[3d]))`, atMs);
    for (const dayMs of [sinceMs, sinceMs + 24 * hourMs]) {
      const nextMs = Math.min(dayMs + 24 * hourMs, beganMs - stepMs);
      expect((await counted(nextMs)) - (await counted(dayMs))).toBe(countTrue(dayMs, nextMs, status));
    }
    const dayMs = sinceMs + 24 * hourMs;
    const increase = await valueOf(`sum(increase(automation_executions_total{status="${status}"}[1d]))`, dayMs);
    expect(increase / countTrue(sinceMs, dayMs, status)).toBeCloseTo(1, 1);
  });

  it('writes the true increase of each hour', async () => {
    for (let hour = 1; hour < 47; hour += 1) {
      const toMs = sinceMs + hour * hourMs;
      const increase = await valueOf('sum(increase(automation_executions_total[1h]))', toMs);
      const truth = countTrue(toMs - hourMs, toMs, 'succeeded') + countTrue(toMs - hourMs, toMs, 'failed');
      expect([hour, Math.round(100 * increase) / 100]).toEqual([hour, truth]);
    }
  });

  it('joins the imported history and the counters without a gap', async () => {
    const truth = simulator.truth().executions.length;
    expect(truth).toBe(203);
    for (const family of [
      'automation_executions_total',
      'automation_project_executions_total',
      'automation_execution_duration_seconds_count',
    ]) {
      const found = (await server.get(`/api/v1/query?query=${encodeURIComponent(`${family}[3d]`)}`)) as {
        result: readonly { metric: Record<string, string>; values: readonly (readonly [number, string])[] }[];
      };
      let increase = 0;
      for (const { values } of found.result) {
        let before: number | undefined;
        for (const [, text] of values) {
          const value = Number(text);
          if (before !== undefined) increase += value < before ? value : value - before;
          before = value;
        }
      }
      expect([family, increase]).toEqual([family, truth]);
    }
    expect(Math.abs((await valueOf('sum(increase(automation_executions_total[49h]))')) - truth) / truth).toBeLessThan(
      0.02,
    );
  });
});
