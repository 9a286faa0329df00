import { expect } from 'vitest';
import { dashboardJson } from '../../dashboards/generate.ts';
import { panelQueries } from '../../dashboards/queries.ts';
import type { Simulator, TrueExecution } from '../../simulator/simulator.ts';
import type { Prometheus } from '../support/prometheus.ts';

type Row = { readonly metric: Readonly<Record<string, string>>; readonly value: readonly [number, string] };

/** Compares the dashboard `overview` with the truth of a passive server. */
export async function compareOverview(prometheus: Prometheus, simulator: Simulator): Promise<void> {
  const ask = async (panel: string, part = 0): Promise<readonly Row[]> => {
    const { expr } = panelQueries(dashboardJson('overview')).filter((query) => query.panel === panel)[part] ?? {};
    if (expr === undefined) throw new Error(`overview has no panel "${panel}"`);
    // This cast is safe: an instant query gives such rows.
    return (await prometheus.query(expr)) as readonly Row[];
  };
  const numbers = async (panel: string): Promise<readonly number[]> =>
    (await ask(panel)).map(({ value }) => Number(value[1]));

  const ended = simulator.truth().executions.filter(({ endedAtMs }) => endedAtMs !== undefined);
  const failed = ended.filter(isFailure).length;
  const succeeded = ended.filter(({ status }) => status === 'succeeded').length;
  expect(failed).toBeGreaterThan(5);
  for (const panel of ['Service', 'Execution mode', 'Service over time', 'Execution mode over time'])
    expect({ panel, numbers: await numbers(panel) }).toEqual({ panel, numbers: [1] });
  for (const panel of ['Executions running', 'Executions overdue', 'Executions waiting', 'Scheduler threads in use'])
    expect({ panel, sum: sum(await numbers(panel)) }).toEqual({ panel, sum: 0 });
  // `increase` extrapolates by up to the time between two samples, so the numbers are not exact.
  expect(near((await numbers('Executions in the last hour'))[0], ended.length)).toBe(ended.length);
  expect(near((await numbers('Executions failed in the last hour'))[0], failed)).toBe(failed);
  expect((await numbers('Success ratio of the last hour'))[0]).toBeCloseTo(succeeded / (succeeded + failed), 1);

  const jobs = readJobs(ended);
  const failing = [...jobs].filter(([, { inARow }]) => inARow > 0);
  expect(failing.length).toBeGreaterThan(0);
  const toCounts = (rows: readonly Row[]): readonly string[] =>
    rows.map(({ metric, value }) => `${toJob(metric)} ${value[1]}`).toSorted();
  expect(toCounts(await ask('Top failing jobs'))).toEqual(
    failing.map(([job, { inARow }]) => `${job} ${inARow}`).toSorted(),
  );
  expect(
    (await ask('Top failing jobs', 1)).map(({ metric }) => `${toJob(metric)} ${metric['status']}`).toSorted(),
  ).toEqual(failing.map(([job, { status }]) => `${job} ${status}`).toSorted());
  expect(toCounts(await ask('Top failing jobs', 2))).toEqual(
    failing.map(([job, { lastFailedId }]) => `${job} ${lastFailedId}`).toSorted(),
  );
}

type JobTruth = { readonly inARow: number; readonly status: string; readonly lastFailedId: number };

/** For each job, its last run and its failures in a row. */
function readJobs(ended: readonly TrueExecution[]): Map<string, JobTruth> {
  const jobs = new Map<string, JobTruth>();
  const inOrder = ended.toSorted((one, other) => (one.endedAtMs ?? 0) - (other.endedAtMs ?? 0));
  for (const execution of inOrder) {
    const { project, jobGroup = '', jobName, status, id } = execution;
    if (jobName === undefined) continue;
    const job = `${project}/${jobGroup}/${jobName}`;
    const { inARow = 0, lastFailedId = 0 } = jobs.get(job) ?? {};
    if (status === 'succeeded') jobs.set(job, { inARow: 0, status, lastFailedId });
    else if (isFailure(execution)) jobs.set(job, { inARow: inARow + 1, status, lastFailedId: id });
    else jobs.set(job, { inARow, status, lastFailedId });
  }
  return jobs;
}

function isFailure({ status }: TrueExecution): boolean {
  return ['failed', 'timedout', 'other'].includes(status);
}

function toJob(metric: Readonly<Record<string, string>>): string {
  // Prometheus drops empty labels.
  return `${metric['project']}/${metric['job_group'] ?? ''}/${metric['job_name']}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function near(found: number | undefined, truth: number): number {
  const value = found ?? Number.NaN;
  return Math.abs(value - truth) <= Math.max(1, truth * 0.05) ? truth : value;
}
