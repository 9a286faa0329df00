import type { Timetable } from './timetable.ts';

/** What is known of a scheduled job. Times are the server's. */
export type WatchedJob = {
  readonly id: string;
  readonly project: string;
  readonly group: string;
  readonly name: string;
  /** Times before this one are not judged. */
  readonly sinceMs: number;
  /** Every expected time up to here is decided. */
  readonly decidedMs: number;
  /** Times that were decided already, and are still to come because the clock was set back. */
  readonly decided?: { readonly afterMs: number; readonly throughMs: number };
  readonly timetable?: Timetable;
  /** When the list showed the job last, and what is off. */
  readonly listedAtMs: number;
  readonly off: readonly OffPeriod[];
  readonly lastModifiedMs?: number;
  /** The member of a cluster that runs it. */
  readonly ownerUuid?: string;
  /** The members that ran it before, as long as a time of theirs is not decided, the oldest first. */
  readonly formerOwners?: readonly { readonly uuid: string; readonly untilMs: number }[];
  /** True once two runs of it were seen at the same time. */
  readonly allowsSeveral?: true;
  /** Whether its definition allows several; undefined where that may not be read. */
  readonly definition?: { readonly askedAtMs: number; readonly allowsSeveral: boolean | undefined };
  /** The last end of a run that was shown, when it was last asked whether any is, and since when they are known to be hidden. */
  readonly shownMs?: number;
  readonly runsAskedMs?: number;
  readonly hiddenMs?: number;
  /** The runs around the times that are not decided. */
  readonly runs: readonly SeenRun[];
  /** Of the runs that started up to here not all are kept: there were too many. */
  readonly lostRunsMs?: number;
  /** Misses that an answer about the schedule has to confirm, which nothing gives while the job or its project is off. */
  readonly held?: readonly Missed[];
  /** The newest decisions, in the order of their times. */
  readonly verdicts: readonly Verdict[];
  readonly lastMissedMs?: number;
  /** When the list lacked it. */
  readonly goneAtMs?: number;
  /** Set while its schedule cannot be read. */
  readonly unread?: Unread;
  /** The shortest span whose times were more than the server could list, and when that was. */
  readonly limit?: { readonly spanMs: number; readonly atMs: number };
};

export type Unread = {
  readonly atMs: number;
  /** How many questions in a row were not answered. */
  readonly count: number;
  /** The fault; absent where an answer had no times. */
  readonly why?: string;
};

/** Returns the time up to which a job is not asked about: each rest is twice as long as the previous one. */
export function restsUntilMs({ atMs, count }: Unread): number {
  return atMs + Math.min(minRestMs * 2 ** (count - 1), maxRestMs);
}

const minRestMs = 600_000;
const maxRestMs = 6 * 3_600_000;

/** Returns the longest span whose times may be asked for: for a day much less than what the server could not list. */
export function maxSpanMs({ limit }: WatchedJob, nowMs: number): number {
  if (limit === undefined || Math.abs(nowMs - limit.atMs) > limitedForMs) return Number.POSITIVE_INFINITY;
  return limit.spanMs / 4;
}

const limitedForMs = 86_400_000;

/** A time during which a switch of the job is off. */
export type OffPeriod = {
  readonly what: 'job' | 'schedule';
  /** When it was still seen on; absent if it was off when it was first seen. */
  readonly lastOnMs?: number;
  /** When it was switched off, as far as is known. */
  readonly sinceMs: number;
  /** The first reading that showed it. */
  readonly seenAtMs: number;
  /** When it was seen on again. */
  readonly untilMs?: number;
};

/** Lists of jobs come every few minutes: after more than that, switches may have been turned unseen. */
export const maxListGapMs = 600_000;

export type SeenRun = {
  readonly id: number;
  readonly startedAtMs: number;
  /** Absent while it runs. */
  readonly endedAtMs?: number;
  /** `scheduled` may satisfy an expected time, `missed` is the server's own record of a miss; others only take up time. */
  readonly kind: 'scheduled' | 'missed' | 'other';
};

export const missReasons = [
  'down',
  'passive',
  'executions_disabled',
  'schedule_disabled',
  'job_disabled',
  'orphaned',
  'overlap',
  'saturated',
  'restart',
  'clock',
  'unknown',
] as const;
export type MissReason = (typeof missReasons)[number];

/** A fact that a decision rests on: what was read, when, and where. */
export type Fact = { readonly fact: string; readonly atMs: number; readonly source: string };

/** What became of one expected time. */
export type Verdict = { readonly expectedMs: number } & (
  | { readonly is: 'ran'; readonly delayMs: number; readonly runId: number }
  | { readonly is: 'missed'; readonly reason: MissReason; readonly facts: readonly Fact[] }
  | { readonly is: 'off'; readonly what: OffPeriod['what']; readonly facts: readonly Fact[] }
  | {
      readonly is: 'undecided';
      readonly why: 'edited' | 'unread' | 'gone' | 'clock' | 'switched' | 'unconfirmed' | 'hidden' | 'unasked';
      /** How many times of the same hour it is about, where that is more than this one. */
      readonly count?: number;
    }
);

export type Missed = Extract<Verdict, { is: 'missed' }>;

/** A job, and what was decided about it now. */
export type Judged = { readonly job: WatchedJob; readonly verdicts: readonly Verdict[] };

/** Returns the member that ran a job at a time: the one that the list showed last before it. */
export function ownerAt({ ownerUuid, formerOwners = [] }: WatchedJob, atMs: number): string | undefined {
  return formerOwners.find(({ untilMs }) => untilMs > atMs)?.uuid ?? ownerUuid;
}

/** The times that are not decided yet. */
export function openTimes({ timetable, sinceMs, decidedMs }: WatchedJob): readonly number[] {
  return timetable?.timesMs.filter((time) => time > decidedMs && time >= sinceMs) ?? [];
}

/** Runs that ended before this time matter for none that is not decided; undefined where all are. */
export function firstOpenMs(job: WatchedJob): number | undefined {
  const [first] = openTimes(job);
  const gapMs = job.timetable?.gap?.afterMs;
  return gapMs === undefined ? first : Math.min(first ?? gapMs, gapMs);
}

/** The times that are not decided yet, those included that are held. */
export function undecidedTimes(job: WatchedJob): readonly number[] {
  return [...(job.held ?? []).map(({ expectedMs }) => expectedMs), ...openTimes(job)];
}

/** The first expected time after now; undefined for a job that is off. */
export function nextTime(job: WatchedJob, nowMs: number): number | undefined {
  if (isOff(job)) return undefined;
  return job.timetable?.timesMs.find((time) => time > nowMs);
}

/** Returns the time up to which nothing is expected, as far as the last answer reaches; undefined where it is over. */
export function quietUntil(job: WatchedJob, nowMs: number): number | undefined {
  const { untilMs = nowMs } = job.timetable ?? {};
  return untilMs > nowMs && nextTime(job, nowMs) === undefined ? untilMs : undefined;
}

export function isOff({ off }: Pick<WatchedJob, 'off'>): boolean {
  return off.some(({ untilMs }) => untilMs === undefined);
}

/** Reports whether a switch of a job was turned: periods that are over do not count, as they are forgotten at some time. */
export function isSwitched(before: Pick<WatchedJob, 'off'>, after: Pick<WatchedJob, 'off'>): boolean {
  const toOpen = ({ off }: Pick<WatchedJob, 'off'>): string =>
    off.flatMap(({ what, untilMs }) => (untilMs === undefined ? [what] : [])).join(' ');
  return toOpen(before) !== toOpen(after);
}
