import type { Timetable } from './timetable.ts';

/** The facts about a scheduled job. All times are server times. */
export type WatchedJob = {
  readonly id: string;
  readonly project: string;
  readonly group: string;
  readonly name: string;
  /** The time since which the job is watched. Earlier times are not decided. */
  readonly sinceMs: number;
  /** The end of the span whose expected times are all decided. */
  readonly decidedMs: number;
  /** The span of decided times that are in the future after the clock was set back. */
  readonly decided?: { readonly afterMs: number; readonly throughMs: number };
  readonly timetable?: Timetable;
  /** The time of the last list with the job. */
  readonly listedAtMs: number;
  readonly off: readonly OffPeriod[];
  readonly lastModifiedMs?: number;
  /** The cluster member that runs the job. */
  readonly ownerUuid?: string;
  /** The members that ran the job earlier, oldest first. A member stays while one of its times is undecided. */
  readonly formerOwners?: readonly { readonly uuid: string; readonly untilMs: number }[];
  /** True if two runs of the job were seen at the same time. */
  readonly allowsSeveral?: true;
  /** Whether the definition allows concurrent runs; undefined if the definition cannot be read. */
  readonly definition?: {
    readonly askedAtMs: number;
    readonly allowsSeveral: boolean | undefined;
    readonly mostAtOnce?: number;
  };
  /** The latest end of a visible run. */
  readonly shownMs?: number;
  readonly runsAskedMs?: number;
  readonly hiddenMs?: number;
  /** Runs around undecided times. */
  readonly runs: readonly SeenRun[];
  /** The time before which some runs were dropped, because there were too many. */
  readonly lostRunsMs?: number;
  /** Missed runs that a response about the schedule must confirm. There is no response while the job or its project is off. */
  readonly held?: readonly Missed[];
  /** The usual nodes of the job, each with the number of further runs for which the node still counts as usual. */
  readonly nodes?: Readonly<Record<string, number>>;
  /** The latest decisions, sorted by expected time. */
  readonly verdicts: readonly Verdict[];
  readonly lastMissedMs?: number;
  /** The missed runs of the last days, including missed runs that `verdicts` no longer has. */
  readonly misses?: readonly Misses[];
  /** The time at which the job was first missing in the list. */
  readonly goneAtMs?: number;
  /** The failed requests; undefined unless the schedule cannot be read. */
  readonly unread?: Unread;
  /** The shortest span with too many times for the server, and the time of the request for the span. */
  readonly limit?: { readonly spanMs: number; readonly atMs: number };
};

export type Unread = {
  readonly atMs: number;
  readonly count: number;
  /** The error; absent if the response had no times. */
  readonly why?: string;
};

/** Returns the end of the pause after failed requests; each pause is twice as long as the pause before. */
export function restsUntilMs({ atMs, count }: Unread): number {
  return atMs + Math.min(minRestMs * 2 ** (count - 1), maxRestMs);
}

export const minRestMs = 600_000;
export const maxRestMs = 6 * 3_600_000;

/** Returns the longest span to request. For a day after a failed request, spans are a quarter of the failed one. */
export function maxSpanMs({ limit }: WatchedJob, nowMs: number): number {
  if (limit === undefined || Math.abs(nowMs - limit.atMs) > limitedForMs) return Number.POSITIVE_INFINITY;
  return limit.spanMs / 4;
}

const limitedForMs = 86_400_000;

export type OffPeriod = {
  readonly what: 'job' | 'schedule';
  /** The time at which the job was last seen switched on; absent if never. */
  readonly lastOnMs?: number;
  /** The time since which the job is known to be off. */
  readonly sinceMs: number;
  readonly seenAtMs: number;
  /** The time at which the job was seen switched on again. */
  readonly untilMs?: number;
};

/** The maximum pause between lists. During a longer pause, a switch may have been off unnoticed. */
export const maxListGapMs = 600_000;

export type SeenRun = {
  readonly id: number;
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  /**
   * `scheduled`: may match an expected time; `missed`: the server's own record of a missed run; `waiting`: the wait before a
   * one-time run, which the server counts as a run.
   */
  readonly kind: 'scheduled' | 'missed' | 'waiting' | 'other';
  /** True if a restart of the server interrupted the run, which the server still lists. */
  readonly isInterrupted?: true;
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
      /** The number of expected times in the hour that have this verdict; absent if it is 1. */
      readonly count?: number;
    }
);

export type Missed = Extract<Verdict, { is: 'missed' }>;

export type Judged = { readonly job: WatchedJob; readonly verdicts: readonly Verdict[] };

/** Returns the owner of a job at a time, by the last list before this time. */
export function ownerAt({ ownerUuid, formerOwners = [] }: WatchedJob, atMs: number): string | undefined {
  return formerOwners.find(({ untilMs }) => untilMs > atMs)?.uuid ?? ownerUuid;
}

/** Returns the undecided times, without the times of held missed runs. */
export function openTimes({ timetable, sinceMs, decidedMs }: WatchedJob): readonly number[] {
  return timetable?.timesMs.filter((time) => time > decidedMs && time >= sinceMs) ?? [];
}

/** Returns the time before which finished runs are no longer needed; undefined if all times are decided. */
export function firstOpenMs(job: WatchedJob): number | undefined {
  const [first] = openTimes(job);
  const gapMs = job.timetable?.gap?.afterMs;
  return gapMs === undefined ? first : Math.min(first ?? gapMs, gapMs);
}

/** Returns the undecided times, including the times of held missed runs. */
export function undecidedTimes(job: WatchedJob): readonly number[] {
  return [...(job.held ?? []).map(({ expectedMs }) => expectedMs), ...openTimes(job)];
}

/** Returns the first expected time in the future; undefined for a job that is off. */
export function nextTime(job: WatchedJob, nowMs: number): number | undefined {
  if (isOff(job)) return undefined;
  return job.timetable?.timesMs.find((time) => time > nowMs);
}

/** Returns the time until which no start is expected, if the last response shows it. */
export function quietUntil(job: WatchedJob, nowMs: number): number | undefined {
  const { untilMs = nowMs } = job.timetable ?? {};
  return untilMs > nowMs && nextTime(job, nowMs) === undefined ? untilMs : undefined;
}

export function isOff({ off }: Pick<WatchedJob, 'off'>): boolean {
  return off.some(({ untilMs }) => untilMs === undefined);
}

/** Reports whether a job was switched on or off. Periods that are over are ignored. */
export function isSwitched(before: Pick<WatchedJob, 'off'>, after: Pick<WatchedJob, 'off'>): boolean {
  const toOpen = ({ off }: Pick<WatchedJob, 'off'>): string =>
    off.flatMap(({ what, untilMs }) => (untilMs === undefined ? [what] : [])).join(' ');
  return toOpen(before) !== toOpen(after);
}

/** Missed times of one job with the same reason and the same facts. */
export type Misses = {
  readonly reason: MissReason;
  readonly facts: readonly Fact[];
  /** The times, in ascending order. */
  readonly timesMs: readonly number[];
};

/** Adds decided times to the missed runs of a job, and removes times more than a week before the last decided time. */
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
    // An earlier time may be decided after a later time; then the earlier time starts a new group.
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
    const timesMs = each.timesMs.filter((time) => time >= fromMs).slice(-room);
    if (timesMs.length === 0 || room <= 0) return [];
    room -= timesMs.length;
    return [{ ...each, timesMs }];
  });
  return kept.reverse();
}

const dayMs = 86_400_000;
const keptMs = 7 * dayMs;
/** The times of one day of a job that starts each minute. */
export const maxTimes = 1500;
/** The maximum number of groups. Beyond the maximum, groups with the same reason are joined, without their facts. */
const maxMisses = 100;
