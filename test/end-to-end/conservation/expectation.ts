import type { TrueExecution } from '../../../simulator/simulator.ts';

export type Contract = {
  /** The start of counting of projects that were there at the first start. */
  readonly countedFromMs: number;
  /** The jobs that are never shown. */
  readonly hiddenJobs: readonly string[];
  /** Projects that are gone at the end. */
  readonly gone: ReadonlySet<string>;
  /** How many executions had ended, in the order of the truth, when ids began again. */
  readonly newDatabasesAt: readonly number[];
};

export type Expectation = {
  /** Value by series, in the words of the text format. */
  readonly series: ReadonlyMap<string, number>;
  readonly counted: readonly TrueExecution[];
  /** How often ids had started when it got its own, from 1 on. */
  readonly epochOf: (execution: TrueExecution) => number;
  readonly unreadable: number;
  readonly imported: number;
  /** Ids that an execution had before another database gave them again. */
  readonly idsAgain: number;
};

/** The values that the counters must have, only from the truth and the contract. */
export function expect(truth: readonly TrueExecution[], contract: Contract): Expectation {
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
    series: toSeries(counted),
    counted,
    epochOf: (execution) => 1 + epochs.findIndex((epoch) => epoch.includes(execution)),
    unreadable: finished.length - readable.length,
    imported: inInterval.length - counted.length,
    idsAgain,
  };
}

/** Nothing runs before counting begins: an end that is told to lie shortly before it is told by a clock that was set back. */
const maxStepMs = 3_600_000;

function toEpochs(finished: readonly TrueExecution[], cuts: readonly number[]): TrueExecution[][] {
  const ends = [...cuts, finished.length];
  return ends.map((end, index) => finished.slice(ends[index - 1] ?? 0, end));
}

/** Those that ended more than a day before the start of one with a lower id. */
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
      // In milliseconds until the end: sums of fractions depend on their order.
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

/** Every series whose value is another, or that only one of both has. */
export function compare(expected: ReadonlyMap<string, number>, seen: ReadonlyMap<string, number>): string[] {
  const keys = [...new Set([...expected.keys(), ...seen.keys()])].sort();
  return keys.flatMap((key) => {
    const [truth, value] = [expected.get(key), seen.get(key)];
    const isSame = truth !== undefined && value !== undefined && Math.round(truth * 1000) === Math.round(value * 1000);
    return isSame ? [] : [`${key}: ${value ?? 'nothing'} instead of ${truth ?? 'nothing'}`];
  });
}
