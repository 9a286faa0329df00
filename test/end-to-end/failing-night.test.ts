import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { type Child, startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeSharedFolder } from '../support/folder.ts';
import { type Prometheus, startPrometheus } from '../support/prometheus.ts';
import { describeWithTools } from '../support/tools.ts';
import { compareOverview } from './overview-truth.ts';

/** A series with every sample as Prometheus stored it. */
type Stored = {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: string])[];
};

describeWithTools('end-to-end/failing-night', ['prometheus'], (tools) => {
  const directory = makeSharedFolder();
  let simulator: Simulator;
  let daemon: Child;
  let prometheus: Prometheus;
  const endings: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    simulator = await startSimulator({
      scenario: 'failing-night',
      speed: 60,
      historyMs: 0,
      threadPoolSize: 200,
      retained: Infinity,
    });
    endings.push(() => simulator.stop());
    // The server is passive until Prometheus has scraped each 0.
    simulator.control.setExecutionMode('passive');
    daemon = startDaemon(directory, simulator, '127.0.0.1:0');
    endings.push(() => daemon.stop());
    const [, address = ''] = await daemon.waitFor(/url=http:\/\/(\S+)/);
    prometheus = await startPrometheus({ prometheus: tools.prometheus, target: address, job: 'automation-exporter' });
    endings.push(prometheus.stop);
  }, 60_000);

  afterAll(async () => {
    for (const end of endings.reverse()) await end();
  });

  it('leaves the true totals in Prometheus despite kills', async () => {
    const [, address = ''] = await daemon.waitFor(/url=http:\/\/(\S+)/);
    await eventually(async () =>
      expect(await prometheus.query('automation_exporter_execution_lag_seconds < 60')).toHaveLength(1),
    );

    // A faster clock does not shorten runs, so `durationFactor` shortens them.
    simulator.control.setConditions({ failureFactor: 6, durationFactor: 0.02 });
    simulator.control.setExecutionMode('active');
    await eventually(async () => expect(readTruth(simulator).size).toBeGreaterThan(15));
    await eventually(async () =>
      expect(await prometheus.query('sum(automation_executions_total) > 20')).toHaveLength(1),
    );
    daemon.kill('SIGKILL');
    await daemon.ended;
    const ended = countEnds(simulator);
    await eventually(async () => expect(countEnds(simulator)).toBeGreaterThan(ended + 10));
    daemon = startDaemon(directory, simulator, address);
    await daemon.waitFor(/msg=serving/);

    await eventually(async () => expect(countEnds(simulator)).toBeGreaterThan(ended + 40), { limitMs: 60_000 });
    simulator.control.setExecutionMode('passive');
    for (const { id, endedAtMs } of simulator.truth().executions)
      if (endedAtMs === undefined) simulator.control.abort(id);

    const truth = readTruth(simulator);
    // Without a scrape of the 0, the increase would be too small.
    expect((await readStored('automation_executions_total')).filter(beginsAboveZero)).toEqual([]);
    for (const name of ['automation_executions_total', 'automation_execution_duration_seconds_count'])
      await eventually(async () => expect(rise(await readStored(name))).toEqual(truth), { limitMs: 60_000 });
    expect([...truth.keys()].filter((key) => key.endsWith(' failed')).length).toBeGreaterThan(2);
    for (const name of names) expect(findFalls(await readStored(name))).toEqual([]);
    await eventually(async () => compareOverview(prometheus, simulator), { limitMs: 60_000 });
  }, 240_000);

  async function readStored(name: string): Promise<Stored[]> {
    // This cast is safe: an instant query for a range returns a matrix.
    return (await prometheus.query(`${name}[10m]`)) as Stored[];
  }
});

const names = [
  'automation_executions_total',
  'automation_execution_duration_seconds_bucket',
  'automation_execution_duration_seconds_count',
  'automation_execution_duration_seconds_sum',
  'automation_execution_nodes_total',
  'automation_node_failures_total',
];

/** The true number of ended executions by job and status. */
function readTruth(simulator: Simulator): Map<string, number> {
  const ends = new Map<string, number>();
  for (const { project, jobGroup = '', jobName = '', status, endedAtMs } of simulator.truth().executions) {
    if (endedAtMs === undefined) continue;
    const key = toKey(project, jobGroup, jobName, status);
    ends.set(key, (ends.get(key) ?? 0) + 1);
  }
  return sorted(ends);
}

function countEnds(simulator: Simulator): number {
  return [...readTruth(simulator).values()].reduce((sum, count) => sum + count, 0);
}

/** The increase from the first to the last sample, by job and status. */
function rise(stored: readonly Stored[]): Map<string, number> {
  const ends = stored.map(({ metric, values }): [string, number] => {
    const { project = '', job_group: group = '', job_name: name = '', status = '' } = metric;
    return [toKey(project, group, name, status), Number(values.at(-1)?.[1]) - Number(values[0]?.[1])];
  });
  return sorted(new Map(ends.filter(([, count]) => count !== 0)));
}

function beginsAboveZero({ values }: Stored): boolean {
  return Number(values[0]?.[1]) > 0;
}

/** Finds samples that are lower than the previous sample. */
function findFalls(stored: readonly Stored[]): string[] {
  expect(stored.length).toBeGreaterThan(0);
  return stored.flatMap(({ metric, values }) =>
    values.flatMap(([, value], index) => {
      const before = values[index - 1]?.[1];
      return before === undefined || Number(value) >= Number(before)
        ? []
        : [`${JSON.stringify(metric)}: ${value} after ${before}`];
    }),
  );
}

function toKey(project: string, group: string, name: string, status: string): string {
  return `${project}/${group}/${name} ${status}`;
}

function sorted(ends: ReadonlyMap<string, number>): Map<string, number> {
  return new Map([...ends].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function startDaemon(directory: string, simulator: Simulator, address: string): Child {
  writeFileSync(join(directory, 'token'), `${simulator.token}\n`, { mode: 0o600 });
  writeFileSync(
    join(directory, 'config.yaml'),
    `servers: [{ name: prod, url: '${simulator.url}', token_file: ./token, budget: { requests_per_second: 100 } }]
collectors: { executions: { every: 1s } }
metrics: { hold_new_series: 5s }
web: { listen_address: '${address}' }
state: { dir: ./state }
`,
  );
  return startCli(['serve', '--config.file=config.yaml'], { cwd: directory });
}
