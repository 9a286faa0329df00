import type { TrueExecution } from '../../../simulator/simulator.ts';

type Contract = {
  /** The time from which executions of the initial projects are counted. */
  readonly countedFromMs: number;
  /** The ids of jobs that are never visible. */
  readonly hiddenJobs: readonly string[];
  /** Projects that are deleted at the end. */
  readonly gone: ReadonlySet<string>;
  /** The number of executions that had ended at each restart of the ids. */
  readonly newDatabasesAt: readonly number[];
};

export type Expectation = ReturnType<typeof expect>;

/** Computes the expected counters from the truth. */
export function expect(truth: readonly TrueExecution[], contract: Contract) {
  const finished = truth.filter(({ visibleAtMs }) => visibleAtMs !== undefined);
  const epochs = toEpochs(finished, contract.newDatabasesAt);
  const readable = finished.filter(({ visibleAtMs, deletedAtMs }) => visibleAtMs !== deletedAtMs);
  const imports = new Set(epochs.flatMap(toImports));
  const inInterval = readable.filter(
    ({ project, jobId, endedAtMs = 0 }) =>
      endedAtMs >= contract.countedFromMs - maxStepMs &&
      !contract.gone.has(project) &&
      !contract.hiddenJobs.includes(jobId ?? ''),
  );
  const counted = inInterval.filter((execution) => !imports.has(execution));
  const before = new Set<number>();
  let idsAgain = 0;
  for (const epoch of epochs) {
    for (const { id } of epoch) if (before.has(id)) idsAgain += 1;
    for (const { id } of epoch) before.add(id);
  }
  return {
    /** Values by series, as in the text format. */
    series: toSeries(counted),
    counted,
    /** The epoch of an execution's id. */
    epochOf: (execution: TrueExecution) => 1 + epochs.findIndex((epoch) => epoch.includes(execution)),
    unreadable: finished.length - readable.length,
    imported: inInterval.length - counted.length,
    /** The number of ids that were assigned twice. */
    idsAgain,
  };
}

/** A clock that was set back may date an end before the start of counting. */
const maxStepMs = 3_600_000;

function toEpochs(finished: readonly TrueExecution[], cuts: readonly number[]): TrueExecution[][] {
  const ends = [...cuts, finished.length];
  return ends.map((end, index) => finished.slice(ends[index - 1] ?? 0, end));
}

/** Executions that ended more than a day before the start of one with a lower id. */
function toImports(epoch: readonly TrueExecution[]): TrueExecution[] {
  const dayMs = 86_400_000;
  let latestStartMs = Number.NEGATIVE_INFINITY;
  const imports: TrueExecution[] = [];
  for (const execution of [...epoch].sort((one, other) => one.id - other.id)) {
    const isOneTime = execution.type === 'user-scheduled';
    if (!isOneTime && (execution.endedAtMs ?? 0) + dayMs < latestStartMs) imports.push(execution);
    else if (!isOneTime) latestStartMs = Math.max(latestStartMs, execution.startedAtMs);
  }
  return imports;
}

const statuses = ['succeeded', 'failed', 'aborted', 'timedout', 'failed-with-retry', 'missed', 'other'];

function toSeries(counted: readonly TrueExecution[]): Map<string, number> {
  const series = new Map<string, number>();
  const add = (name: string, labels: Readonly<Record<string, string>>, by: number): void => {
    const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escape(value)}"`);
    const key = `${name}{${pairs.join(',')}}`;
    series.set(key, (series.get(key) ?? 0) + by);
  };
  for (const { project, jobGroup = '', jobName = '', status, startedAtMs, endedAtMs = 0, ...nodes } of counted) {
    const job = { project, job_group: jobGroup, job_name: jobName };
    for (const each of statuses) add('automation_executions_total', { ...job, status: each }, Number(each === status));
    if (endedAtMs >= startedAtMs) {
      add('automation_execution_duration_seconds_count', { ...job, status }, 1);
      // Sums are in milliseconds, because a sum of fractions depends on its order.
      add('automation_execution_duration_seconds_sum', { ...job, status }, endedAtMs - startedAtMs);
    }
    const succeeded = nodes.succeededNodes.length;
    if (succeeded > 0) add('automation_execution_nodes_total', { ...job, result: 'succeeded' }, succeeded);
    const failed = nodes.failedNodes.length;
    if (failed > 0) add('automation_execution_nodes_total', { ...job, result: 'failed' }, failed);
    for (const node of nodes.failedNodes) add('automation_node_failures_total', { project, node }, 1);
  }
  for (const [key, value] of series) if (isSum(key)) series.set(key, value / 1000);
  return series;
}

function escape(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function isSum(key: string): boolean {
  return key.startsWith('automation_execution_duration_seconds_sum');
}

/** Returns the series that differ or that only one side has. */
export function compare(expected: ReadonlyMap<string, number>, seen: ReadonlyMap<string, number>): string[] {
  const keys = [...new Set([...expected.keys(), ...seen.keys()])].sort();
  return keys.flatMap((key) => {
    const [truth, value] = [expected.get(key), seen.get(key)];
    const isSame = truth !== undefined && value !== undefined && Math.round(truth * 1000) === Math.round(value * 1000);
    return isSame ? [] : [`${key}: ${value ?? 'nothing'} instead of ${truth ?? 'nothing'}`];
  });
}
