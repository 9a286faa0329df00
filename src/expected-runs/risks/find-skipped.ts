import type { JobNames } from '../../domain/execution.ts';
import { toJobPath } from '../../domain/job.ts';
import type { Pause } from '../../domain/pause.ts';
import {
  type Fact,
  isOff,
  type MissReason,
  type SeenRun,
  undecidedTimes,
  type WatchedJob,
} from '../deciding/watched-job.ts';

/** A success of a job, by which earlier missed runs count as recovered. */
export type Success = { readonly id?: number; readonly startedAtMs: number };

export type SkippedInput = {
  readonly jobs: Iterable<WatchedJob>;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** The known successes, sorted by start, by the id of their job; by its path, if the id is not known. */
  readonly successes: ReadonlyMap<string, readonly Success[]>;
  /** The running executions of each job, by its id. */
  readonly running: ReadonlyMap<string, readonly SeenRun[]>;
  readonly isCritical: (path: string) => boolean;
  readonly isProjectOff: (project: string) => boolean;
};

/** Missed times of one job with the same cause, followed by the same success. */
export type SkippedRuns = {
  readonly job: JobNames;
  readonly jobId: string;
  readonly isCritical: boolean;
  readonly reason: MissReason;
  readonly facts: readonly Fact[];
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
  /** The first success that started later; undefined if there is none yet. */
  readonly recovered: Success | undefined;
  /** Without such a success, a later run that has not ended. */
  readonly underWay?: SeenRun | undefined;
  /** True if the job is no longer listed as scheduled. */
  readonly isGone?: boolean;
};

export type Skipped = {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly missed: number;
  /** The number of missed runs without a later success. */
  readonly left: number;
  /** Since when the first of the jobs has been watched; earlier missed runs are not known. Undefined without watched jobs. */
  readonly watchedMs: number | undefined;
  /** The number of times in the interval that could not be decided, among the last times of each job. */
  readonly undecided: number;
  /** The number of times in the interval that are still being checked, later than usual. */
  readonly open: number;
  /** The number of jobs whose times are not all known until the end of the interval: some may have been missed. */
  readonly untimed: number;
  /** True if some of the runs without a later success may be in progress, because running executions are not known. */
  readonly isUnread?: boolean;
  /** First those without a later success (critical ones first), then the others; sorted by time. */
  readonly runs: readonly SkippedRuns[];
};

/** Finds the scheduled runs of an interval that did not happen, and whether a later run recovered them. */
export async function findSkipped(input: SkippedInput, pause: Pause): Promise<Skipped> {
  const { jobs, sinceMs, untilMs, isProjectOff } = input;
  const runs: SkippedRuns[] = [];
  let undecided = 0;
  let open = 0;
  let untimed = 0;
  let watchedMs = Number.POSITIVE_INFINITY;
  for (const job of jobs) {
    await pause();
    if (job.goneAtMs === undefined) {
      watchedMs = Math.min(watchedMs, job.sinceMs);
      const isRead = (job.timetable?.untilMs ?? -Infinity) >= untilMs - usualMs;
      if (!isRead && !isOff(job) && !isProjectOff(job.project)) untimed += 1;
    }
    const isWithin = (time: number): boolean => time >= sinceMs && time <= untilMs;
    open += undecidedTimes(job).filter((time) => isWithin(time) && time < untilMs - usualMs).length;
    for (const verdict of job.verdicts)
      if (verdict.is === 'undecided' && isWithin(verdict.expectedMs)) undecided += verdict.count ?? 1;
    for (const { reason, facts, timesMs } of job.misses ?? [])
      runs.push(...toRuns(job, { reason, facts, timesMs: timesMs.filter(isWithin) }, input));
  }
  const toCount = (some: readonly SkippedRuns[]): number => some.reduce((sum, { count }) => sum + count, 0);
  const left = toCount(runs.filter(({ recovered }) => recovered === undefined));
  return {
    sinceMs,
    untilMs,
    missed: toCount(runs),
    left,
    watchedMs: Number.isFinite(watchedMs) ? watchedMs : undefined,
    undecided,
    open,
    untimed,
    runs: runs.sort(byUrgency),
  };
}

/** A missed run is usually decided within this time. */
const usualMs = 600_000;

type SomeMisses = NonNullable<WatchedJob['misses']>[number];

function toRuns(
  { id, project, group, name, goneAtMs }: WatchedJob,
  { reason, facts, timesMs }: SomeMisses,
  { successes, running, isCritical }: SkippedInput,
): readonly SkippedRuns[] {
  const job = { project, group, name };
  const path = toJobPath(job);
  const known = [...(successes.get(id) ?? []), ...(successes.get(path) ?? [])].sort(
    (one, other) => one.startedAtMs - other.startedAtMs,
  );
  const later: readonly (Success | SeenRun)[] = [...known, ...(running.get(id) ?? [])];
  const byEnd = Map.groupBy(timesMs, (time) => later.find(({ startedAtMs }) => startedAtMs > time));
  return [...byEnd].map(([run, times]) => ({
    job,
    jobId: id,
    isCritical: isCritical(path),
    reason,
    facts,
    firstMs: times[0] ?? 0,
    lastMs: times.at(-1) ?? 0,
    count: times.length,
    ...(run !== undefined && 'kind' in run ? { recovered: undefined, underWay: run } : { recovered: run }),
    isGone: goneAtMs !== undefined,
  }));
}

function byUrgency(one: SkippedRuns, other: SkippedRuns): number {
  const toRank = ({ recovered, isCritical }: SkippedRuns): number =>
    (recovered === undefined ? 0 : 2) + (isCritical ? 0 : 1);
  return toRank(one) - toRank(other) || one.firstMs - other.firstMs;
}
