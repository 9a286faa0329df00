import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildRules } from '../../alerts/generate.ts';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { type Prometheus, startPrometheus } from '../support/prometheus.ts';
import { describeWithTools } from '../support/tools.ts';

/** Jobs start in the first five of ten seconds; the mode changes in the other five. */
const everyMs = 10_000;
const offsetsMs = [0, 1000, 2000, 3000, 4000, 4500];

describeWithTools('end-to-end/passive-night', ['prometheus'], (tools) => {
  let url: string;
  let simulator: Simulator;
  let prometheus: Prometheus;
  const endings: (() => unknown)[] = [];

  beforeAll(async () => {
    const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-night-'));
    endings.push(() => rmSync(dir, { recursive: true, force: true }));
    simulator = await startSimulator({ scenario: 'empty' });
    endings.push(() => simulator.stop());
    for (const project of ['pay', 'shop']) simulator.control.createProject(project);
    for (const [index, offsetMs] of offsetsMs.entries())
      simulator.control.createJob(index % 2 === 0 ? 'pay' : 'shop', {
        name: `job ${index}`,
        group: 'nightly',
        schedule: { everyMs, offsetMs },
      });
    const daemon = startCli(['serve', `--config.file=${writeConfig(dir, simulator)}`]);
    endings.push(daemon.stop);
    [, url = ''] = await daemon.waitFor(/url=(http:\S+)/);
    prometheus = await startPrometheus({
      prometheus: tools.prometheus,
      target: new URL(url).host,
      job: 'automation-exporter',
      rules: buildRules({ baseUrl: url, evaluationInterval: '1s', scheduleMissedFor: '0s' }),
    });
    endings.push(prometheus.stop);
  }, 60_000);

  afterAll(async () => {
    for (const end of endings.reverse()) await end();
  });

  const query = async (expression: string): Promise<number> => {
    const [row] = await prometheus.query(expression);
    // The cast contains the fields of an instant query.
    return Number((row as { readonly value: readonly [number, string] } | undefined)?.value[1] ?? Number.NaN);
  };
  const sum = (selector: string): Promise<number> => query(`sum(automation_schedule_missed_total{${selector}})`);
  const decidedInTime = (): Promise<number> => query('sum(automation_schedule_delay_seconds_count)');

  /** Changes the mode while no job starts; returns the time. */
  async function setMode(mode: 'active' | 'passive'): Promise<number> {
    return eventually(
      async () => {
        const nowMs = Date.now();
        const phaseMs = nowMs % everyMs;
        if (phaseMs < 5500 || phaseMs > 7500) throw new Error('jobs start about now');
        simulator.control.setExecutionMode(mode);
        return nowMs;
      },
      { limitMs: 2 * everyMs },
    );
  }

  it('counts each run that a passive server did not start', async () => {
    await eventually(
      async () =>
        expect(await prometheus.query('automation_job_next_run_timestamp_seconds')).toHaveLength(offsetsMs.length),
      { limitMs: 60_000 },
    );
    await eventually(async () => expect(await sum('reason="unknown"')).toBe(0));

    // A run that is due during the first contact may stay undecided, so the test waits for later runs of each job.
    await eventually(async () => expect(await decidedInTime()).toBeGreaterThan(2 * offsetsMs.length), {
      limitMs: 180_000,
    });
    const early = await readDecided(url);

    const fromMs = await setMode('passive');
    // A missed run is decided after the following minute.
    await eventually(async () => expect(await sum('reason="passive"')).toBeGreaterThan(offsetsMs.length), {
      limitMs: 300_000,
    });
    const why = startCli(['why', 'prod', 'pay/nightly/job 0', `--url=${url}`]);
    await why.ended;
    const untilMs = await setMode('active');
    expect(why.output()).toMatch(/^Did not run at \S.*: the server was passive \(seen .* before\)\./);
    const [, seen = ''] = /^ {2}(\S+ \S+ UTC) {2}the server was passive \[execution-mode\]$/m.exec(why.output()) ?? [];
    expect(Math.abs(Date.parse(seen) - fromMs)).toBeLessThan(3000);

    const each = Math.floor(untilMs / everyMs) - Math.floor(fromMs / everyMs);
    const lines = offsetsMs.map(() => `reason="passive"} ${each}`);
    await eventually(async () => expect(await readDecided(url)).toEqual([...lines, ...early]), { limitMs: 420_000 });
    // Runs after the last missed run must also be decided.
    await eventually(
      async () =>
        expect(
          await prometheus.query('changes(sum(automation_schedule_delay_seconds_count)[20s:1s]) > 0'),
        ).toHaveLength(1),
      { limitMs: 60_000 },
    );
    expect(await sum('reason!="passive"')).toBe(0);
    // The last scrape may be older than the page.
    await eventually(async () => expect(await sum('reason="passive"')).toBe(offsetsMs.length * each));
    const alerts = await prometheus.query('ALERTS{alertname="AutomationScheduleMissed",alertstate="firing"}');
    expect(alerts).toMatchObject([{ metric: { server: 'prod', reason: 'passive', severity: 'warning' } }]);
    const starts = await prometheus.query(
      'count(count_over_time(ALERTS{alertname="AutomationScheduleMissed",alertstate="firing"}[10m]))',
    );
    expect(starts).toMatchObject([{ value: [expect.any(Number), '1'] }]);
  }, 900_000);
});

/** Returns each series of missed or undecided runs, as its last label and its value. */
async function readDecided(url: string): Promise<string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => /^automation_schedule_(missed|undecided)_total\{/.test(line));
  return lines.filter((line) => !line.endsWith(' 0')).map((line) => line.slice(line.lastIndexOf(',') + 1));
}

function writeConfig(dir: string, { url, token }: Simulator): string {
  const file = join(dir, 'config.yaml');
  writeFileSync(join(dir, 'token'), `${token}\n`, { mode: 0o600 });
  writeFileSync(
    file,
    `servers:
  - { name: prod, url: '${url}', token_file: '${join(dir, 'token')}', budget: { requests_per_second: 100 } }
collectors:
  system-info: { every: 1s }
  execution-mode: { every: 1s }
  project-modes: { every: 1s }
  executions: { every: 1s }
  schedule: { every: 1s }
metrics: { hold_new_series: 3s }
web: { listen_address: '127.0.0.1:0' }
state: { dir: '${join(dir, 'state')}' }
`,
  );
  return file;
}
