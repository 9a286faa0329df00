import type { JobNames } from '../../domain/execution.ts';
import { toJobPath } from '../../domain/job.ts';
import type { Pause } from '../../domain/pause.ts';
import { type HourOfTimes, hourMs } from '../deciding/hours.ts';
import {
  type Fact,
  isOff,
  type MissReason,
  maxTimes,
  type SeenRun,
  undecidedTimes,
  type WatchedJob,
} from '../deciding/watched-job.ts';

/** A success of a job. Missed runs before the success count as recovered. */
export type Success = { readonly id?: number; readonly startedAtMs: number };

export type SkippedInput = {
  readonly jobs: Iterable<WatchedJob>;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** The known successes, sorted by start, by job id; by path for a job without a known id. */
  readonly successes: ReadonlyMap<string, readonly Success[]>;
  readonly running: ReadonlyMap<string, readonly SeenRun[]>;
  readonly isCritical: (path: string) => boolean;
  readonly isProjectOff: (project: string) => boolean;
  /** The decisions of the last days by hour, because a job stores only its latest decisions. */
  readonly hours: readonly HourOfTimes[];
};

/** Missed times of one job with the same cause and the same next success. */
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
  /** A later run in progress, if there is no success yet. */
  readonly underWay?: SeenRun | undefined;
  readonly isGone?: boolean;
};

export type Skipped = {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly missed: number;
  /** The number of missed runs without a later success. */
  readonly left: number;
  /** When the watch of jobs began; earlier missed runs are unknown. Undefined without watched jobs. */
  readonly watchedMs: number | undefined;
  /** The number of undecided times in the interval, counted by job or by hour, whichever is greater. */
  readonly undecided: number;
  /** The number of times whose check takes longer than usual. */
  readonly open: number;
  /** The number of jobs with unknown times in the interval. */
  readonly untimed: number;
  /** The number of jobs with more missed runs in the interval than are stored. */
  readonly cut?: number;
  readonly isUnread?: boolean;
  /** Runs without a later success come first, critical runs before others, then recovered runs; sorted by time. */
  readonly runs: readonly SkippedRuns[];
};

/** Finds the scheduled runs of an interval that did not happen, and the later successes of their jobs. */
export async function findSkipped(input: SkippedInput, pause: Pause): Promise<Skipped> {
  const { jobs, sinceMs, untilMs, isProjectOff, hours } = input;
  const runs: SkippedRuns[] = [];
  let undecided = 0;
  let open = 0;
  let untimed = 0;
  let cut = 0;
  let watchedMs = Number.POSITIVE_INFINITY;
  for (const job of jobs) {
    await pause();
    if (job.goneAtMs === undefined) {
      watchedMs = Math.min(watchedMs, job.sinceMs);
      const isRead = (job.timetable?.untilMs ?? -Infinity) >= untilMs - maxUnlistedMs;
      if (!isRead && !isOff(job) && !isProjectOff(job.project)) untimed += 1;
    }
    const isWithin = (time: number): boolean => time >= sinceMs && time <= untilMs;
    open += undecidedTimes(job).filter((time) => isWithin(time) && time < untilMs - usualMs).length;
    for (const verdict of job.verdicts)
      if (verdict.is === 'undecided' && isWithin(verdict.expectedMs)) undecided += verdict.count ?? 1;
    const { misses = [] } = job;
    const stored = misses.reduce((sum, { timesMs }) => sum + timesMs.length, 0);
    if (stored >= maxTimes && (misses[0]?.timesMs[0] ?? 0) > sinceMs) cut += 1;
    for (const { reason, facts, timesMs } of misses)
      runs.push(...toRuns(job, { reason, facts, timesMs: timesMs.filter(isWithin) }, input));
  }
  const toCount = (some: readonly SkippedRuns[]): number => some.reduce((sum, { count }) => sum + count, 0);
  const ofHours = hours.filter(({ startMs }) => startMs + hourMs > sinceMs && startMs < untilMs);
  const left = toCount(runs.filter(({ recovered }) => recovered === undefined));
  return {
    sinceMs,
    untilMs,
    missed: toCount(runs),
    left,
    watchedMs: Number.isFinite(watchedMs) ? watchedMs : undefined,
    undecided: Math.max(
      undecided,
      ofHours.reduce((sum, hour) => sum + hour.undecided, 0),
    ),
    open,
    untimed,
    cut,
    runs: runs.sort(byUrgency),
  };
}

/** The time within which a run that starts in time is usually read. */
const usualMs = 120_000;
/** The time within which the times of a job are usually listed again. */
const maxUnlistedMs = 600_000;

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
