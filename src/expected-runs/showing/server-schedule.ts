import type { JobNames } from '../../domain/execution.ts';
import type { Pause } from '../../domain/pause.ts';
import { type Blocker, findBlockers, findServerBlockers } from '../deciding/blockers.ts';
import { type HourOfTimes, hourMs, isLate, lastHours, toHour } from '../deciding/hours.ts';
import type { HourAhead } from '../deciding/hours-ahead.ts';
import { isProjectOff, type Sources } from '../deciding/sources.ts';
import { isTimedUntil } from '../deciding/timetable.ts';
import { isOff, nextTime, type Verdict, type WatchedJob } from '../deciding/watched-job.ts';

/** The last computed plan of the next 24 hours. */
type Ahead = { readonly atMs: number; readonly threads: number | undefined; readonly hours: readonly HourAhead[] };

/** The timetable of one server for its page. Times are server times. */
export type ServerSchedule = {
  readonly server: string;
  readonly nowMs: number;
  /** The findings that prevent all schedules of the server from starting jobs now. */
  readonly blockers: readonly Blocker[];
  /** The number of watched jobs, and of watched jobs that are off or in a project that is off. */
  readonly jobCount: number;
  readonly offCount: number;
  /** The number of jobs that are not off, but whose starts within the next day are not all known. */
  readonly untimedCount: number;
  /** The last twelve hours and the current hour; undefined for an unknown hour. */
  readonly hours: readonly {
    readonly startMs: number;
    readonly known: HourOfTimes | undefined;
    /** The number of past undecided times of the hour. */
    readonly openCount: number;
  }[];
  readonly openCount: number;
  /** The latest decisions except runs in time, newest first, and their total number. */
  readonly notable: readonly TimeOfJob[];
  readonly notableCount: number;
  readonly next: readonly NextStart[];
  readonly ahead: Ahead | undefined;
};

export type TimeOfJob = { readonly job: JobNames; readonly verdict: Verdict };
/** A future start, and the findings that prevent the schedule from starting the job now. */
export type NextStart = { readonly job: JobNames; readonly atMs: number; readonly blockers: readonly Blocker[] };

type Input = {
  readonly server: string;
  readonly jobs: Iterable<WatchedJob>;
  readonly hours: readonly HourOfTimes[];
  readonly nowMs: number;
  readonly ahead: Ahead | undefined;
  readonly sources: Sources;
};

/** Collects the content of the timetable page of a server. The size of this content is limited for any number of jobs. */
export async function toServerSchedule(
  { server, jobs, hours, nowMs, ahead, sources }: Input,
  pause: Pause,
): Promise<ServerSchedule> {
  const fromMs = toHour(nowMs) - 12 * hourMs;
  const counts = { jobs: 0, off: 0, untimed: 0, notable: 0, open: new Map<number, number>() };
  const notable: TimeOfJob[] = [];
  const next: Start[] = [];
  for (const job of jobs) {
    await pause();
    if (job.goneAtMs !== undefined) continue;
    counts.jobs += 1;
    if (isOff(job) || isProjectOff(sources, job.project)) counts.off += 1;
    else if (!isTimedUntil(job.timetable, nowMs + 24 * hourMs)) counts.untimed += 1;
    countOpen(job, nowMs, counts.open);
    const times = job.verdicts.filter((verdict) => verdict.expectedMs >= fromMs && isNotable(verdict));
    counts.notable += times.length;
    addTo(
      notable,
      times.map((verdict) => ({ job, verdict })),
      byTime,
      maxNotable,
    );
    const atMs = nextTime(job, nowMs);
    if (atMs !== undefined) addTo(next, [{ job, atMs }], byStart, maxNext);
  }
  return {
    server,
    nowMs,
    blockers: findServerBlockers(sources, nowMs),
    jobCount: counts.jobs,
    offCount: counts.off,
    untimedCount: counts.untimed,
    hours: lastHours(hours, nowMs, 13).map((hour) => ({ ...hour, openCount: counts.open.get(hour.startMs) ?? 0 })),
    openCount: [...counts.open.values()].reduce((sum, count) => sum + count, 0),
    notable: notable.sort(byTime).slice(0, maxNotable),
    notableCount: counts.notable,
    next: next
      .sort(byStart)
      .slice(0, maxNext)
      .map(({ job, atMs }) => ({ job, atMs, blockers: findBlockers(job, sources, nowMs) })),
    ahead,
  };
}

function byTime(one: TimeOfJob, other: TimeOfJob): number {
  return other.verdict.expectedMs - one.verdict.expectedMs;
}

type Start = { readonly job: WatchedJob; readonly atMs: number };

function byStart(one: Start, other: Start): number {
  return one.atMs - other.atMs;
}

/** Adds items to a list. When the list has become long, sorts it and keeps only the first items. */
function addTo<Item>(
  list: Item[],
  items: readonly Item[],
  compare: (one: Item, other: Item) => number,
  most: number,
): void {
  list.push(...items);
  if (list.length <= 10 * most) return;
  list.sort(compare);
  list.length = most;
}

function isNotable(verdict: Verdict): boolean {
  return verdict.is !== 'ran' || isLate(verdict);
}

/** Counts the undecided times of each hour. Builds no list, because frequent jobs have hundreds of times. */
function countOpen(
  { timetable, decidedMs, sinceMs, held = [] }: WatchedJob,
  nowMs: number,
  counts: Map<number, number>,
): void {
  const add = (time: number): void => {
    counts.set(toHour(time), (counts.get(toHour(time)) ?? 0) + 1);
  };
  for (const { expectedMs } of held) add(expectedMs);
  for (const time of timetable?.timesMs ?? []) {
    if (time > nowMs) break;
    if (time > decidedMs && time >= sinceMs) add(time);
  }
}

const maxNotable = 100;
const maxNext = 50;
