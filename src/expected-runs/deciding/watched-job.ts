import type { Timetable } from './timetable.ts';

/** The facts about a scheduled job. All times are server times. */
export type WatchedJob = {
  readonly id: string;
  readonly project: string;
  readonly group: string;
  readonly name: string;
  /** When the watch began. Earlier times are not decided. */
  readonly sinceMs: number;
  /** All expected times up to this time are decided. */
  readonly decidedMs: number;
  /** Decided times that are in the future again, after the clock was set back. */
  readonly decided?: { readonly afterMs: number; readonly throughMs: number };
  readonly timetable?: Timetable;
  /** When the job was last in a list. */
  readonly listedAtMs: number;
  readonly off: readonly OffPeriod[];
  readonly lastModifiedMs?: number;
  /** The cluster member that runs the job. */
  readonly ownerUuid?: string;
  /** Members that ran the job before, oldest first. A member stays until all its times are decided. */
  readonly formerOwners?: readonly { readonly uuid: string; readonly untilMs: number }[];
  /** True if two runs of the job were seen at the same time. */
  readonly allowsSeveral?: true;
  /** Whether the definition allows concurrent runs. Absent if the definition cannot be read. */
  readonly definition?: {
    readonly askedAtMs: number;
    readonly allowsSeveral: boolean | undefined;
    readonly mostAtOnce?: number;
  };
  /** The latest end of a visible run. */
  readonly shownMs?: number;
  readonly runsAskedMs?: number;
  readonly hiddenMs?: number;
  /** Runs around undecided expected times. */
  readonly runs: readonly SeenRun[];
  /** Before this time, runs were dropped, because there were too many. */
  readonly lostRunsMs?: number;
  /** Missed runs that a response about the schedule must confirm. There is no response while the job or its project is off. */
  readonly held?: readonly Missed[];
  /** The nodes of the last runs, each with the number of further runs for which it counts as usual. */
  readonly nodes?: Readonly<Record<string, number>>;
  /** The latest decisions, sorted by expected time. */
  readonly verdicts: readonly Verdict[];
  readonly lastMissedMs?: number;
  /** The missed runs of the last days, including those that are no longer in `verdicts`. */
  readonly misses?: readonly Misses[];
  /** When the job was first missing in the list. */
  readonly goneAtMs?: number;
  /** The failed requests, while the schedule cannot be read. */
  readonly unread?: Unread;
  /** The shortest span with more times than the server could list, and when it was requested. */
  readonly limit?: { readonly spanMs: number; readonly atMs: number };
};

export type Unread = {
  readonly atMs: number;
  /** The number of consecutive failed requests. */
  readonly count: number;
  /** The error, unless the response had no times. */
  readonly why?: string;
};

/** Returns when the pause after failed requests ends. Each pause is twice as long as the one before. */
export function restsUntilMs({ atMs, count }: Unread): number {
  return atMs + Math.min(minRestMs * 2 ** (count - 1), maxRestMs);
}

const minRestMs = 600_000;
const maxRestMs = 6 * 3_600_000;

/** Returns the longest span to request. For a day after a failed request, it is a quarter of the failed span. */
export function maxSpanMs({ limit }: WatchedJob, nowMs: number): number {
  if (limit === undefined || Math.abs(nowMs - limit.atMs) > limitedForMs) return Number.POSITIVE_INFINITY;
  return limit.spanMs / 4;
}

const limitedForMs = 86_400_000;

export type OffPeriod = {
  readonly what: 'job' | 'schedule';
  /** When the job was last seen on. */
  readonly lastOnMs?: number;
  /** Since when the job is known to be off. */
  readonly sinceMs: number;
  readonly seenAtMs: number;
  /** When the job was seen on again. */
  readonly untilMs?: number;
};

/** The maximum pause between lists. In a longer pause, a switch may go off and on unnoticed. */
export const maxListGapMs = 600_000;

export type SeenRun = {
  readonly id: number;
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  /**
   * `scheduled`: may match an expected time. `missed`: the server's own record of a missed run. `waiting`: the wait
   * before a one-time run, which the server counts as a run.
   */
  readonly kind: 'scheduled' | 'missed' | 'waiting' | 'other';
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

/** A fact behind a decision: what was read, when, and from which source. */
export type Fact = { readonly fact: string; readonly atMs: number; readonly source: string };

export type Verdict = { readonly expectedMs: number } & (
  | { readonly is: 'ran'; readonly delayMs: number; readonly runId: number }
  | { readonly is: 'missed'; readonly reason: MissReason; readonly facts: readonly Fact[] }
  | { readonly is: 'off'; readonly what: OffPeriod['what']; readonly facts: readonly Fact[] }
  | {
      readonly is: 'undecided';
      readonly why:
        | 'edited'
        | 'unsure'
        | 'unread'
        | 'gone'
        | 'clock'
        | 'switched'
        | 'unconfirmed'
        | 'hidden'
        | 'unasked';
      /** How many expected times of the hour have the verdict, if not 1. */
      readonly count?: number;
    }
);

export type Missed = Extract<Verdict, { is: 'missed' }>;

export type Judged = { readonly job: WatchedJob; readonly verdicts: readonly Verdict[] };

/** Returns the owner of a job at a time: the owner in the last list before it. */
export function ownerAt({ ownerUuid, formerOwners = [] }: WatchedJob, atMs: number): string | undefined {
  return formerOwners.find(({ untilMs }) => untilMs > atMs)?.uuid ?? ownerUuid;
}

/** Returns the undecided expected times without those of held missed runs. */
export function openTimes({ timetable, sinceMs, decidedMs }: WatchedJob): readonly number[] {
  return timetable?.timesMs.filter((time) => time > decidedMs && time >= sinceMs) ?? [];
}

/** Returns a time before which finished runs are no longer needed; undefined if all times are decided. */
export function firstOpenMs(job: WatchedJob): number | undefined {
  const [first] = openTimes(job);
  const gapMs = job.timetable?.gap?.afterMs;
  return gapMs === undefined ? first : Math.min(first ?? gapMs, gapMs);
}

/** Returns the undecided expected times with those of held missed runs. */
export function undecidedTimes(job: WatchedJob): readonly number[] {
  return [...(job.held ?? []).map(({ expectedMs }) => expectedMs), ...openTimes(job)];
}

/** Returns the next expected time; undefined for a job that is off. */
export function nextTime(job: WatchedJob, nowMs: number): number | undefined {
  if (isOff(job)) return undefined;
  return job.timetable?.timesMs.find((time) => time > nowMs);
}

/** Returns until when the last response shows no start. */
export function quietUntil(job: WatchedJob, nowMs: number): number | undefined {
  const { untilMs = nowMs } = job.timetable ?? {};
  return untilMs > nowMs && nextTime(job, nowMs) === undefined ? untilMs : undefined;
}

export function isOff({ off }: Pick<WatchedJob, 'off'>): boolean {
  return off.some(({ untilMs }) => untilMs === undefined);
}

/** Reports whether a job was switched on or off between two readings. Periods that are over do not matter. */
export function isSwitched(before: Pick<WatchedJob, 'off'>, after: Pick<WatchedJob, 'off'>): boolean {
  const toOpen = ({ off }: Pick<WatchedJob, 'off'>): string =>
    off.flatMap(({ what, untilMs }) => (untilMs === undefined ? [what] : [])).join(' ');
  return toOpen(before) !== toOpen(after);
}

/** Missed runs of one job with the same reason and the same facts. */
export type Misses = {
  readonly reason: MissReason;
  readonly facts: readonly Fact[];
  /** The expected times, in ascending order. */
  readonly timesMs: readonly number[];
};

/** Adds decided times to the missed runs of a job. Removes missed runs that are more than a week older. */
export function addMisses(
  before: readonly Misses[] | undefined,
  verdicts: readonly Verdict[],
  decidedMs: number,
): readonly Misses[] | undefined {
  const missed = verdicts.filter((verdict): verdict is Missed => verdict.is === 'missed');
  const [oldest] = before ?? [];
  const isOld = oldest !== undefined && (oldest.timesMs[0] ?? 0) < decidedMs - keptMs - dayMs;
  if (missed.length === 0 && !isOld) return before;
  const misses = [...(before ?? [])];
  for (const { reason, facts, expectedMs } of missed) {
    const last = misses.at(-1);
    // An expected time may be decided after a later one. It then starts a new group.
    const isLater = last?.reason === reason && (last.timesMs.at(-1) ?? 0) < expectedMs;
    const isShared = isLater && JSON.stringify(last.facts) === JSON.stringify(facts);
    if (isShared || (isLater && misses.length >= maxMisses))
      misses[misses.length - 1] = { ...last, facts: isShared ? facts : [], timesMs: [...last.timesMs, expectedMs] };
    else misses.push({ reason, facts, timesMs: [expectedMs] });
  }
  return toKept(misses, decidedMs - keptMs);
}

function toKept(misses: readonly Misses[], fromMs: number): readonly Misses[] {
  let room = maxTimes;
  const kept = misses.toReversed().flatMap((each): Misses[] => {
    const timesMs = each.timesMs.filter((time) => time >= fromMs).slice(-Math.max(room, 0));
    if (timesMs.length === 0 || room <= 0) return [];
    room -= timesMs.length;
    return [{ ...each, timesMs }];
  });
  return kept.reverse();
}

const dayMs = 86_400_000;
const keptMs = 7 * dayMs;
/** As many times as a job that starts each minute has in a day. */
const maxTimes = 1500;
/** Beyond this number, groups are joined, without their facts. */
const maxMisses = 100;
