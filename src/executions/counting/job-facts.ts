import { addDuration } from '../../domain/durations/drift.ts';
import { type Ending, type Finished, failedEndings } from '../../domain/execution.ts';
import type { Flakiness, JobFacts } from '../../domain/job.ts';
import { toEnding } from './naming.ts';
import type { Totals } from './series-slots.ts';
import { toCellKey } from './totals.ts';

type Labels = Pick<JobFacts, 'project' | 'group' | 'name'>;
type Failures = Pick<JobFacts, 'consecutiveFailures' | 'failedMs'>;

/**
 * Updates the facts of a job with one more run. Each fact comes from the newest run that has this fact, so the order of calls
 * does not matter. If the end of a run is in the future, the time of the read replaces its end, and every run with a greater id
 * is newer.
 */
export function toFacts(labels: Labels, read: Finished, known: JobFacts | undefined, seenAtMs: number): JobFacts {
  const run = isAhead(read.endedAtMs, seenAtMs) ? { ...read, endedAtMs: seenAtMs } : read;
  const before = known !== undefined && run.id > known.lastId ? withoutAhead(known, run.endedAtMs, seenAtMs) : known;
  const ending = toEnding(run);
  return {
    ...labels,
    ...toNewest(run, ending, before),
    lastStartMs: toLastStart(run, before),
    lastSuccessMs: ending === 'succeeded' ? latest(run.endedAtMs, before?.lastSuccessMs) : before?.lastSuccessMs,
    ...toLastDuration(run, before),
    ...toLastFailure(run, ending, before),
    lastFailure: before?.lastFailure,
    ...toFailures(run, ending, before),
    ...toHistory(run, ending, before),
  };
}

type Newest = Pick<JobFacts, 'jobId' | 'lastEndMs' | 'lastId' | 'lastEnding' | 'averageDurationMs'>;

function toNewest(run: Finished, ending: Ending, before: JobFacts | undefined): Newest {
  const { id, endedAtMs, job } = run;
  const { id: jobId, averageDurationMs } = job ?? {};
  const own: Newest = { jobId, lastEndMs: endedAtMs, lastId: id, lastEnding: ending, averageDurationMs };
  if (before === undefined) return own;
  const [newer, older] = isAfter(run, before) ? [own, before] : [before, own];
  return {
    jobId: newer.jobId ?? older.jobId,
    lastEndMs: newer.lastEndMs,
    lastId: newer.lastId,
    lastEnding: newer.lastEnding,
    averageDurationMs: newer.averageDurationMs ?? older.averageDurationMs,
  };
}

/** Keeps only the newest runs, sorted by their ends. */
function toHistory(run: Finished, ending: Ending, before: JobFacts | undefined): Pick<JobFacts, 'drift' | 'flakiness'> {
  const { drift, flakiness } = before ?? {};
  if (!isAfter(run, before)) return { drift, flakiness };
  const durationMs = run.endedAtMs - run.startedAtMs;
  const isMeasured = ending === 'succeeded' && durationMs >= 0 && run.lacksStart !== true;
  return {
    drift: isMeasured ? addDuration(drift, durationMs, run.endedAtMs) : drift,
    flakiness: addResult(flakiness, ending, run.attempt),
  };
}

function isAhead(atMs: number, seenAtMs: number): boolean {
  return atMs > seenAtMs + maxAheadMs;
}

/** Replaces future times of the facts by a time just before the end of a later run. */
function withoutAhead(facts: JobFacts, endedAtMs: number, seenAtMs: number): JobFacts {
  const settle = <Time extends number | undefined>(atMs: Time): Time | number =>
    atMs !== undefined && isAhead(atMs, seenAtMs) ? endedAtMs - 1 : atMs;
  const { lastStartMs, lastEndMs, lastSuccessMs, lastDurationOfMs, lastFailedMs, failedMs } = facts;
  return {
    ...facts,
    lastStartMs: settle(lastStartMs),
    lastEndMs: settle(lastEndMs),
    lastSuccessMs: settle(lastSuccessMs),
    lastDurationOfMs: settle(lastDurationOfMs),
    lastFailedMs: settle(lastFailedMs),
    failedMs: failedMs?.map(settle),
  };
}

/** The maximum difference between the clocks of cluster members. */
const maxAheadMs = 300_000;

const maxKnown = 20;

function isAfter({ endedAtMs, id }: Finished, before: JobFacts | undefined): boolean {
  if (before === undefined || endedAtMs > before.lastEndMs) return true;
  return endedAtMs === before.lastEndMs && id > before.lastId;
}

/**
 * Returns the last start of a job. A run without a start, or with a start after its end, counts only if it is the first known
 * run.
 */
function toLastStart({ startedAtMs, endedAtMs, lacksStart }: Finished, before: JobFacts | undefined): number {
  if (before === undefined) return Math.min(startedAtMs, endedAtMs);
  const isKnown = lacksStart !== true && startedAtMs <= endedAtMs;
  return isKnown ? Math.max(before.lastStartMs, startedAtMs) : before.lastStartMs;
}

function toLastDuration(
  { startedAtMs, endedAtMs, lacksStart }: Finished,
  before: JobFacts | undefined,
): Pick<JobFacts, 'lastDurationMs' | 'lastDurationOfMs'> {
  const { lastDurationMs, lastDurationOfMs = lastDurationMs === undefined ? undefined : before?.lastEndMs } =
    before ?? {};
  const durationMs = endedAtMs - startedAtMs;
  const isKnown = durationMs >= 0 && lacksStart !== true;
  if (!isKnown || endedAtMs < (lastDurationOfMs ?? -Infinity)) return { lastDurationMs, lastDurationOfMs };
  return { lastDurationMs: durationMs, lastDurationOfMs: endedAtMs };
}

function toLastFailure(
  { id, endedAtMs }: Finished,
  ending: Ending,
  before: JobFacts | undefined,
): Pick<JobFacts, 'lastFailedId' | 'lastFailedMs'> {
  const { lastFailedId, lastFailedMs } = before ?? {};
  if (!failedEndings.includes(ending)) return { lastFailedId, lastFailedMs };
  const isNewer = lastFailedMs === undefined ? id > (lastFailedId ?? -Infinity) : endedAtMs >= lastFailedMs;
  return isNewer ? { lastFailedId: id, lastFailedMs: endedAtMs } : { lastFailedId, lastFailedMs };
}

/**
 * Counts failures after the last success, even if some become known late. Only the newest ends are stored, so a success that is
 * older than all stored ends does not reset the count.
 */
function toFailures(run: Finished, ending: Ending, before: JobFacts | undefined): Failures {
  const { consecutiveFailures = 0, failedMs = [], lastSuccessMs = -Infinity } = before ?? {};
  const { endedAtMs } = run;
  const unknown = consecutiveFailures - failedMs.length;
  const asBefore = { consecutiveFailures, failedMs };
  if (ending === 'succeeded') {
    if (endedAtMs < lastSuccessMs) return asBefore;
    const later = failedMs.filter((failed) => failed > endedAtMs);
    const isLaterThanUnknown = isAfter(run, before) || later.length < failedMs.length;
    const left = isLaterThanUnknown ? 0 : unknown;
    return { consecutiveFailures: later.length + left, failedMs: later };
  }
  const isAfterSuccess = endedAtMs > lastSuccessMs || (endedAtMs === lastSuccessMs && isAfter(run, before));
  if (!failedEndings.includes(ending) || !isAfterSuccess) return asBefore;
  const known = [...failedMs, endedAtMs].sort((one, other) => other - one).slice(0, maxKnown);
  return { consecutiveFailures: consecutiveFailures + 1, failedMs: known };
}

function latest(one: number, other: number | undefined): number {
  return Math.max(one, other ?? -Infinity);
}

/**
 * Returns the duration in ms that 75 % of the last successful runs of a job did not exceed. If few runs are stored, the
 * duration is computed from the histogram of all runs; if the histogram has few runs too, it is the average that the server
 * reports. Undefined for an unknown job.
 */
export function toTypicalDuration(
  { cells }: Pick<Totals, 'cells'>,
  facts: JobFacts | undefined,
  bounds: readonly number[],
): number | undefined {
  if (facts === undefined) return undefined;
  const { project, group, name, drift, averageDurationMs } = facts;
  const last = drift?.tenths.slice(-lastRuns).sort((one, other) => one - other) ?? [];
  if (last.length >= fewRuns) return (last[Math.ceil(last.length * quantile) - 1] ?? 0) * 100;
  const { count = 0, buckets = [] } = cells.get(toCellKey('durations', [project, group, name, 'succeeded'])) ?? {};
  const seconds = count < fewRuns ? undefined : toQuantile(buckets, bounds, count * quantile);
  if (seconds !== undefined) return seconds * 1000;
  return averageDurationMs;
}

const quantile = 0.75;
const fewRuns = 4;
const lastRuns = 20;

/** Returns a quantile of a histogram; undefined if it is in the last bucket, which has no upper bound. */
function toQuantile(counts: readonly number[], bounds: readonly number[], rank: number): number | undefined {
  let below = 0;
  for (const [index, bound] of bounds.entries()) {
    const inside = counts[index] ?? 0;
    if (below + inside >= rank) {
      const from = bounds[index - 1] ?? 0;
      return from + ((bound - from) * (rank - below)) / inside;
    }
    below += inside;
  }
  return undefined;
}

/** Adds the result of the newest run. Aborted runs and retried attempts are ignored. */
export function addResult(before: Flakiness | undefined, ending: Ending, attempt = 0): Flakiness | undefined {
  const mark = toMark(ending, attempt);
  if (mark === undefined) return before;
  const marks = `${before?.marks ?? ''}${mark}`.slice(-maxMarks);
  if (marks.length >= cleanRuns && /^s+$/.test(marks.slice(-cleanRuns))) return { marks, isFlaky: false };
  return { marks, isFlaky: before?.isFlaky === true || isOften(marks) };
}

function toMark(ending: Ending, attempt: number): string | undefined {
  if (ending === 'succeeded') return attempt > 0 ? 'r' : 's';
  return failedEndings.includes(ending) ? 'f' : undefined;
}

/** Reports whether the result of a job changes often: four times in twenty runs, or three runs with retries. */
function isOften(marks: string): boolean {
  let count = 0;
  for (let place = 1; place < marks.length; place += 1)
    if (isFailure(marks, place) !== isFailure(marks, place - 1)) count += 1;
  return count >= 4 || marks.replaceAll(/[^r]/g, '').length >= 3;
}

function isFailure(marks: string, place: number): boolean {
  return marks[place] === 'f';
}

const maxMarks = 20;
const cleanRuns = 10;
