import type { JobNames } from '../../domain/job-path.ts';
import { type HourOfTimes, hourMs, isLate, lastHours, toHour } from '../deciding/hours.ts';
import type { HourAhead } from '../deciding/hours-ahead.ts';
import { isOff, nextTime, type Verdict, type WatchedJob } from '../deciding/watched-job.ts';

/** The next 24 hours as they were computed last. */
export type Ahead = {
  readonly atMs: number;
  readonly threads: number | undefined;
  readonly hours: readonly HourAhead[];
};

/** The timetable of one server as its page shows it. Times are the server's. */
export type ServerSchedule = {
  readonly server: string;
  readonly nowMs: number;
  /** The jobs that are watched, and those of them that are off. */
  readonly jobCount: number;
  readonly offCount: number;
  /** The last twelve hours and the one under way; undefined where nothing is known of an hour. */
  readonly hours: readonly {
    readonly startMs: number;
    readonly known: HourOfTimes | undefined;
    /** Times of this hour that are over and not decided yet. */
    readonly openCount: number;
  }[];
  /** Times that are over and not decided yet. */
  readonly openCount: number;
  /** The newest decisions of these hours that are not runs in time, the newest first, and the number of all that are kept. */
  readonly notable: readonly TimeOfJob[];
  readonly notableCount: number;
  /** What starts next, one time a job. */
  readonly next: readonly NextStart[];
  readonly ahead: Ahead | undefined;
};

export type TimeOfJob = { readonly job: JobNames; readonly verdict: Verdict };
export type NextStart = { readonly job: JobNames; readonly atMs: number };

type Input = {
  readonly server: string;
  readonly jobs: Iterable<WatchedJob>;
  readonly hours: readonly HourOfTimes[];
  readonly nowMs: number;
  readonly ahead: Ahead | undefined;
};

/** Collects what the page of a server's timetable shows: no more than a person reads, however many jobs there are. */
export function toServerSchedule({ server, jobs, hours, nowMs, ahead }: Input): ServerSchedule {
  const fromMs = toHour(nowMs) - 12 * hourMs;
  const there = [...jobs].filter(({ goneAtMs }) => goneAtMs === undefined);
  const notable = there.flatMap((job) =>
    job.verdicts
      .filter((verdict) => verdict.expectedMs >= fromMs && isNotable(verdict))
      .map((verdict) => ({ job, verdict })),
  );
  const next = there.flatMap((job) => {
    const atMs = nextTime(job, nowMs);
    return atMs === undefined ? [] : [{ job, atMs }];
  });
  const open = countOpen(there, nowMs);
  return {
    server,
    nowMs,
    jobCount: there.length,
    offCount: there.filter(isOff).length,
    hours: lastHours(hours, nowMs, 13).map((hour) => ({ ...hour, openCount: open.get(hour.startMs) ?? 0 })),
    openCount: [...open.values()].reduce((sum, count) => sum + count, 0),
    notable: notable.sort((one, other) => other.verdict.expectedMs - one.verdict.expectedMs).slice(0, mostNotable),
    notableCount: notable.length,
    next: next.sort((one, other) => one.atMs - other.atMs).slice(0, mostNext),
    ahead,
  };
}

function isNotable(verdict: Verdict): boolean {
  return verdict.is !== 'ran' || isLate(verdict);
}

/** Counts the open times of each hour, in place: dense jobs have hundreds of times each. */
function countOpen(jobs: readonly WatchedJob[], nowMs: number): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  const add = (time: number): void => {
    counts.set(toHour(time), (counts.get(toHour(time)) ?? 0) + 1);
  };
  for (const { timetable, decidedMs, sinceMs, held = [] } of jobs) {
    for (const { expectedMs } of held) add(expectedMs);
    for (const time of timetable?.timesMs ?? []) {
      if (time > nowMs) break;
      if (time > decidedMs && time >= sinceMs) add(time);
    }
  }
  return counts;
}

const mostNotable = 100;
const mostNext = 50;
