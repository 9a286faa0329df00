import type { Timetable } from './timetable.ts';

/** The facts about a scheduled job. All times are the server's. */
export type WatchedJob = {
  readonly id: string;
  readonly project: string;
  readonly group: string;
  readonly name: string;
  /** Earlier times are not decided. */
  readonly sinceMs: number;
  /** All expected times up to this one are decided. */
  readonly decidedMs: number;
  /** Decided times that are in the future again, because the clock was set back. */
  readonly decided?: { readonly afterMs: number; readonly throughMs: number };
  readonly timetable?: Timetable;
  /** When the job was last listed. */
  readonly listedAtMs: number;
  readonly off: readonly OffPeriod[];
  readonly lastModifiedMs?: number;
  /** The cluster member that runs the job. */
  readonly ownerUuid?: string;
  /** The members that ran the job earlier, oldest first, while one of their times is undecided. */
  readonly formerOwners?: readonly { readonly uuid: string; readonly untilMs: number }[];
  /** True if two of its runs were seen at the same time. */
  readonly allowsSeveral?: true;
  /** Whether the definition allows several runs at the same time; undefined if it cannot be read. */
  readonly definition?: {
    readonly askedAtMs: number;
    readonly allowsSeveral: boolean | undefined;
    readonly mostAtOnce?: number;
  };
  /** The last end of a run that was shown. */
  readonly shownMs?: number;
  readonly runsAskedMs?: number;
  readonly hiddenMs?: number;
  /** Runs around undecided times. */
  readonly runs: readonly SeenRun[];
  /** Up to this time, some runs were not kept, because there were too many. */
  readonly lostRunsMs?: number;
  /** Missed runs that an answer about the schedule must confirm. While the job or its project is off, there is no answer. */
  readonly held?: readonly Missed[];
  /** The nodes of the last runs, each with the number of further runs for which the node counts. */
  readonly nodes?: Readonly<Record<string, number>>;
  /** The newest decisions, in the order of their times. */
  readonly verdicts: readonly Verdict[];
  readonly lastMissedMs?: number;
  /** The missed runs of the last days; older than those in `verdicts`. */
  readonly misses?: readonly Misses[];
  /** When the job was first missing from the list. */
  readonly goneAtMs?: number;
  /** Set while the schedule cannot be read. */
  readonly unread?: Unread;
  /** The shortest span that had too many times for the server, and when it was requested. */
  readonly limit?: { readonly spanMs: number; readonly atMs: number };
};

export type Unread = {
  readonly atMs: number;
  /** The number of unanswered requests in a row. */
  readonly count: number;
  /** The error; absent if an answer had no times. */
  readonly why?: string;
};

/** Returns the time until which a job is not requested; each pause is twice as long as the last. */
export function restsUntilMs({ atMs, count }: Unread): number {
  return atMs + Math.min(minRestMs * 2 ** (count - 1), maxRestMs);
}

const minRestMs = 600_000;
const maxRestMs = 6 * 3_600_000;

/** Returns the longest span to request. For a day after a failed request, this is a quarter of the span that failed. */
export function maxSpanMs({ limit }: WatchedJob, nowMs: number): number {
  if (limit === undefined || Math.abs(nowMs - limit.atMs) > limitedForMs) return Number.POSITIVE_INFINITY;
  return limit.spanMs / 4;
}

const limitedForMs = 86_400_000;

export type OffPeriod = {
  readonly what: 'job' | 'schedule';
  /** When the job was last seen switched on; absent if never. */
  readonly lastOnMs?: number;
  /** When the job was switched off, as far as known. */
  readonly sinceMs: number;
  readonly seenAtMs: number;
  /** When the job was seen switched on again. */
  readonly untilMs?: number;
};

/** Lists are read every few minutes: during a longer pause, a switch may have been turned off and on unnoticed. */
export const maxListGapMs = 600_000;

export type SeenRun = {
  readonly id: number;
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  /**
   * `scheduled`: may satisfy an expected time; `missed`: the server's own record of a missed run; `waiting`: the time before a
   * one-time run, which counts as a run for the server.
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

/** A fact behind a decision: what was read, when, and where. */
export type Fact = { readonly fact: string; readonly atMs: number; readonly source: string };

/** The decision about one expected time. */
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
      /** The number of times in this hour for which the verdict counts, if more than one. */
      readonly count?: number;
    }
);

export type Missed = Extract<Verdict, { is: 'missed' }>;

export type Judged = { readonly job: WatchedJob; readonly verdicts: readonly Verdict[] };

/** Returns the member that ran a job at a time, by the last list before it. */
export function ownerAt({ ownerUuid, formerOwners = [] }: WatchedJob, atMs: number): string | undefined {
  return formerOwners.find(({ untilMs }) => untilMs > atMs)?.uuid ?? ownerUuid;
}

/** Returns the undecided times, without held missed runs. */
export function openTimes({ timetable, sinceMs, decidedMs }: WatchedJob): readonly number[] {
  return timetable?.timesMs.filter((time) => time > decidedMs && time >= sinceMs) ?? [];
}

/** Returns the time before which finished runs no longer matter; undefined if all times are decided. */
export function firstOpenMs(job: WatchedJob): number | undefined {
  const [first] = openTimes(job);
  const gapMs = job.timetable?.gap?.afterMs;
  return gapMs === undefined ? first : Math.min(first ?? gapMs, gapMs);
}

/** Returns the undecided times, including held missed runs. */
export function undecidedTimes(job: WatchedJob): readonly number[] {
  return [...(job.held ?? []).map(({ expectedMs }) => expectedMs), ...openTimes(job)];
}

/** The first expected time in the future; undefined for a job that is off. */
export function nextTime(job: WatchedJob, nowMs: number): number | undefined {
  if (isOff(job)) return undefined;
  return job.timetable?.timesMs.find((time) => time > nowMs);
}

/** Returns the time until which no start is expected, if the last answer reaches that far; otherwise undefined. */
export function quietUntil(job: WatchedJob, nowMs: number): number | undefined {
  const { untilMs = nowMs } = job.timetable ?? {};
  return untilMs > nowMs && nextTime(job, nowMs) === undefined ? untilMs : undefined;
}

export function isOff({ off }: Pick<WatchedJob, 'off'>): boolean {
  return off.some(({ untilMs }) => untilMs === undefined);
}

/** Reports whether a switch of a job was turned. Finished periods are ignored, because they are removed later. */
export function isSwitched(before: Pick<WatchedJob, 'off'>, after: Pick<WatchedJob, 'off'>): boolean {
  const toOpen = ({ off }: Pick<WatchedJob, 'off'>): string =>
    off.flatMap(({ what, untilMs }) => (untilMs === undefined ? [what] : [])).join(' ');
  return toOpen(before) !== toOpen(after);
}

/** Times of one job that were missed for the same reason, with the facts that all of them share. */
export type Misses = {
  readonly reason: MissReason;
  readonly facts: readonly Fact[];
  /** Ascending. */
  readonly timesMs: readonly number[];
};

/** Adds decided times to the missed runs of a job, and removes those that are more than a week older. */
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
    // An earlier time may be decided later, after its answer: it starts a new group.
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
/** One day of a job that starts each minute. */
const maxTimes = 1500;
/** If there are more groups, times with different facts become one group without facts. */
const maxMisses = 100;
