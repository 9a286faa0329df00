import { toKey } from './real-figures.ts';
import type { Finding, Journal, Recorded } from './real-journal.ts';
import type { Series } from './real-series.ts';
import type { ListedRow } from './real-server.ts';

type Labels = Readonly<Record<string, string>>;
type Share = { readonly labels: Labels; readonly value: number };

/** Returns the duration; a run that was aborted while it waited has none. */
function toDuration(row: ListedRow, toValue: (ms: number) => number): readonly Share[] {
  const ms = toMs(row, 'date-ended') - toMs(row, 'date-started');
  return ms < 0 ? [] : [{ labels: { ...toJob(row), status: toEnding(row) }, value: toValue(ms) }];
}

/** Each counter, with the increments that one row causes. */
const counters: Readonly<Record<string, (row: ListedRow) => readonly Share[]>> = {
  automation_executions_total: (row) => [{ labels: { ...toJob(row), status: toEnding(row) }, value: 1 }],
  automation_project_executions_total: (row) => [
    { labels: { project: row.project, trigger: toTrigger(row), status: toEnding(row) }, value: 1 },
  ],
  automation_execution_duration_seconds_count: (row) => toDuration(row, () => 1),
  automation_execution_duration_seconds_sum: (row) => toDuration(row, (ms) => ms),
  automation_execution_nodes_total: (row) => [
    { labels: { ...toJob(row), result: 'succeeded' }, value: row.successfulNodes?.length ?? 0 },
    { labels: { ...toJob(row), result: 'failed' }, value: row.failedNodes?.length ?? 0 },
  ],
  automation_node_failures_total: (row) =>
    (row.failedNodes ?? []).map((node) => ({ labels: { project: row.project, node }, value: 1 })),
};

/**
 * Compares each counter with the rows of the server. The least value counts the executions that ended long enough ago;
 * the greatest counts all recorded executions.
 */
export function judgeCounters(
  { executions }: Journal,
  { metrics, fromMs, throughMs }: { metrics: Series; fromMs: number; throughMs: number },
): readonly Finding[] {
  const rows = [...executions.values()];
  return Object.entries(counters).map(([family, toShares]) => {
    const least = new Map<string, number>();
    const most = new Map<string, number>();
    const unit = family.endsWith('_sum') ? 1000 : 1;
    const add = (to: Map<string, number>, key: string, value: number): void => {
      to.set(key, (to.get(key) ?? 0) + value / unit);
    };
    for (const recorded of rows) {
      const endMs = toMs(recorded.row, 'date-ended');
      if (endMs < fromMs - edgeMs) continue;
      const looks = recorded.rows.map(
        (row) => new Map(toShares(row).map(({ labels, value }) => [toKey(labels), value])),
      );
      const isSure = endMs > fromMs + edgeMs && endMs < throughMs;
      for (const key of new Set(looks.flatMap((look) => [...look.keys()]))) {
        const values = looks.map((look) => look.get(key) ?? 0);
        if (isSure) add(least, key, Math.min(...values));
        add(most, key, Math.max(...values));
      }
    }
    const got = new Map(metrics.of(family).map(({ labels, value }) => [toKey(labels), value]));
    const wrong = [...new Set([...got.keys(), ...most.keys()])].flatMap((key) => {
      const value = got.get(key) ?? 0;
      const [low = 0, high = 0] = [least.get(key), most.get(key)];
      if (value >= low - 1e-6 && value <= high + 1e-6) return [];
      return [`${family}{${key}} ${got.has(key) ? String(value) : 'absent'}, not ${String(low)} to ${String(high)}`];
    });
    return { what: family, checked: got.size, wrong };
  });
}

/** Executions that ended this near to the first contact may be counted or not. */
const edgeMs = 20_000;

const facts: Readonly<Record<string, (runs: readonly ListedRow[]) => number | undefined>> = {
  automation_job_last_start_timestamp_seconds: (runs) => toSeconds(runs.at(-1), 'date-started'),
  automation_job_last_end_timestamp_seconds: (runs) => toSeconds(runs.at(-1), 'date-ended'),
  automation_job_last_success_timestamp_seconds: (runs) =>
    toSeconds(
      runs.findLast((row) => toEnding(row) === 'succeeded'),
      'date-ended',
    ),
  automation_job_last_execution_id: (runs) => runs.at(-1)?.id,
  automation_job_last_failed_execution_id: (runs) => runs.findLast((row) => failed.includes(toEnding(row)))?.id,
  automation_job_consecutive_failures: (runs) => {
    if (runs.length === 0) return undefined;
    const since = runs.slice(runs.findLastIndex((row) => toEnding(row) === 'succeeded') + 1);
    return since.filter((row) => failed.includes(toEnding(row))).length;
  },
  automation_job_last_duration_seconds: (runs) => {
    const last = runs.at(-1);
    const ms = last && toMs(last, 'date-ended') - toMs(last, 'date-started');
    return ms === undefined || ms < 0 ? undefined : ms / 1000;
  },
};
const failed: readonly string[] = ['failed', 'timedout', 'other'];

/** Compares the last run of each job with the notes of the two minutes before the scrape. */
export function judgeFacts(
  { executions, jobs, projects }: Journal,
  { metrics, fromMs, nowMs }: { metrics: Series; fromMs: number; nowMs: number },
): readonly Finding[] {
  const byJob = Map.groupBy(
    [...executions.values()].filter(({ row }) => row.job !== undefined && toMs(row, 'date-ended') > fromMs + edgeMs),
    ({ row }) => row.job?.id ?? '',
  );
  const there = new Set([...new Map(projects.map((note) => [note.project, note])).values()].flatMap(({ ids }) => ids));
  const latest = new Map(jobs.flatMap((note) => (there.has(note.job.id) ? [[note.job.id, note] as const] : [])));
  return Object.entries(facts).map(([family, toFact]) => {
    const got = new Map(metrics.of(family).map(({ labels, value }) => [toKey(labels), value]));
    const wrong: string[] = [];
    for (const [id, runs] of byJob) {
      const note = latest.get(id);
      if (note === undefined) continue;
      const key = toKey({ project: note.project, job_group: note.job.group, job_name: note.job.name });
      const value = got.get(key);
      const may = [0, 10, 20, 30, 45, 60, 120].map((seconds) => toFact(sortRuns(runs, nowMs - seconds * 1000)));
      if (!may.some((each) => each === value || Math.abs((each ?? -1) - (value ?? -2)) < 1e-3))
        wrong.push(`${family}{${key}} ${String(value)}, not ${[...new Set(may)].map(String).join(' or ')}`);
    }
    return { what: family, checked: got.size, wrong };
  });
}

function sortRuns(runs: readonly Recorded[], beforeMs: number): readonly ListedRow[] {
  return runs
    .map(({ row }) => row)
    .filter((row) => toMs(row, 'date-ended') <= beforeMs)
    .toSorted((one, other) => toMs(one, 'date-ended') - toMs(other, 'date-ended') || one.id - other.id);
}

function toJob({ project, job, executionType, retryAttempt = 0, retriedExecution }: ListedRow): Labels {
  if (job !== undefined) return { project, job_group: job.group, job_name: job.name };
  // Servers mark runs without a job as scheduled, so runs of deleted jobs look ad hoc.
  const isOfJob = executionType === 'user-scheduled' || retryAttempt > 0 || (retriedExecution ?? null) !== null;
  return { project, job_group: '', job_name: isOfJob ? '__deleted__' : '' };
}

const endings = ['succeeded', 'failed', 'aborted', 'timedout', 'failed-with-retry', 'missed'];

function toEnding({ status, failedNodes = [], successfulNodes = [] }: ListedRow): string {
  if (status === 'scheduled')
    return failedNodes.length > 0 ? 'failed' : successfulNodes.length > 0 ? 'succeeded' : 'other';
  return endings.includes(status) ? status : 'other';
}

function toTrigger({ job, executionType = '' }: ListedRow): string {
  if (job === undefined && executionType === 'scheduled') return 'user';
  return ['user', 'scheduled', 'user-scheduled', 'webhook'].includes(executionType) ? executionType : 'other';
}

function toMs(row: ListedRow, field: 'date-started' | 'date-ended'): number {
  return row[field].unixtime;
}

function toSeconds(row: ListedRow | undefined, field: 'date-started' | 'date-ended'): number | undefined {
  return row && toMs(row, field) / 1000;
}
