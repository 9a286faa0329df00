import type { Window } from '../../api/paging.ts';

/** Why a project is not read; nothing of it counts as read meanwhile. */
export const holds = ['disabled', 'hidden', 'missing', 'excluded'] as const;
export type Hold = (typeof holds)[number];

/** The progress of reading a project; kept. Times are the server's. */
export type ProjectState = {
  readonly project: string;
  /** Ends before this time are not counted. */
  readonly countedFromMs: number;
  /** The earlier runs after that time; absent where all that ended since then counts. */
  readonly earlier?: EarlierRuns | undefined;
  /** Ends before this time have been forgotten, so they must never be counted; absent while nothing has been. */
  readonly prunedThroughMs?: number | undefined;
  /** Every end up to here has been read. */
  readonly scannedThroughMs: number;
  /** Read up to this time as well, except for the backlog; absent without a backlog. */
  readonly aheadThroughMs?: number | undefined;
  /** The windows before that time that are still to be read, oldest first. */
  readonly backlog?: readonly Window[] | undefined;
  /** From here on all is read again once the backlog is done: ends that became visible late; absent where that is the overlap. */
  readonly againFromMs?: number | undefined;
  /** The windows that are skipped because they are too long ago, and are not counted yet. */
  readonly skips?: readonly Skip[] | undefined;
  /** Hours that were read a second time, a day later, end here. */
  readonly rereadThroughMs: number;
  /** When the totals of the last week were compared. */
  readonly comparedWeekAtMs?: number | undefined;
  readonly hold?: Hold | undefined;
  readonly heldSinceMs?: number | undefined;
  /** The end of the gap after a restored copy that it was read through. */
  readonly gapReadMs?: number | undefined;
};

/** A window of the past that is skipped, and the reason for the delay: one of the holds, or an outage. */
export type Skip = Window & {
  readonly reason: string;
  /** The number of its runs that are counted so far, and whether it is incomplete because the server did not report all. */
  readonly runs?: number;
  readonly isUnknown?: boolean;
};

/**
 * After a restored copy: the runs with these ids that ended before this time are of before counting began. Others are dated so by
 * a clock that was set back since the copy was made.
 */
export type EarlierRuns = { readonly untilMs: number; readonly throughId: number };

/** The activity of a project, kept while the process lives. */
export type ProjectActivity = {
  /** Read every round until then. */
  readonly activeUntilMs: number;
  readonly readAtMs: number;
  /** When the totals of the last day are to be compared next. */
  readonly nextDayMs: number;
  /** The time from which none of its rows has been shown; while it is set, they do not count as read. */
  readonly unshownSinceMs: number | undefined;
  /** When something of it was counted lately: the last two times, the last one first. */
  readonly lastRunsMs?: readonly number[];
  /** True if its last day held too much to be read in the rotation. */
  readonly isDayLong: boolean;
};

/** A project that is seen for the first time. */
export function toNewProject(project: string, countedFromMs: number): ProjectState {
  return { project, countedFromMs, scannedThroughMs: countedFromMs, rereadThroughMs: countedFromMs };
}

/** Back from a hold, or from an outage: what is longer ago than the limit is skipped. */
export function resume(state: ProjectState, nowMs: number, catchUpLimitMs: number): ProjectState {
  const { hold, heldSinceMs: _since, ...rest } = state;
  const limitMs = nowMs - catchUpLimitMs;
  // A backlog was near enough when catching up with it began.
  if (readThroughMs(state) >= limitMs) return rest;
  const beginMs = rest.scannedThroughMs;
  const skips = [...(rest.skips ?? []), { beginMs, endMs: limitMs - 1, reason: hold ?? 'outage' }];
  // Entries of the skipped time are forgotten later, a little at a time.
  const prunedThroughMs = rest.prunedThroughMs ?? rest.countedFromMs;
  return { ...toNewProject(state.project, limitMs), prunedThroughMs, skips };
}

/**
 * The server's clock was set back: what was read of the time from then on has to be read again, and counts again. Where a proxy
 * writes the dates of answers, the step is seen late; a project that is new has no earlier runs that could count by mistake.
 */
export function rewind(state: ProjectState, toMs: number, isNew = false): ProjectState {
  return rewindAbsent(state, { toMs: isNew ? toMs - maxUnnoticedMs : toMs, isCertain: true });
}

/**
 * Rewinds a state after the clock was set back during an absence. How far the clock had been ahead is unknown, except for the
 * minimum: counting begins that much earlier. It may have been ahead by longer, and then it was read last before that: reading an
 * hour again costs little.
 */
export function rewindUnseen(state: ProjectState, nowMs: number): ProjectState {
  const { countedFromMs, prunedThroughMs = Number.NEGATIVE_INFINITY } = state;
  const aheadMs = Math.max(0, readThroughMs(state) - nowMs);
  const unreadMs = aheadMs === 0 ? 0 : Math.max(aheadMs, usualAheadMs - aheadMs);
  const beganMs = countedFromMs > nowMs ? Math.max(countedFromMs - aheadMs, prunedThroughMs) : countedFromMs;
  return {
    ...withReadUntil(state, nowMs - Math.min(unreadMs, maxUnseenMs)),
    countedFromMs: beganMs,
  };
}

/**
 * Rewinds a state after the clock was set back by a known difference during an absence. It is certain where times were read that
 * are still to come, and harmless for a project without earlier runs; otherwise our own clock may have been set, and what ended
 * before counting began must not be counted.
 */
export function rewindAbsent(
  state: ProjectState,
  { toMs, isCertain }: { toMs: number; isCertain: boolean },
): ProjectState {
  const { countedFromMs, prunedThroughMs = Number.NEGATIVE_INFINITY } = state;
  return {
    ...withReadUntil(state, toMs),
    countedFromMs: isCertain ? Math.min(countedFromMs, Math.max(toMs, prunedThroughMs)) : countedFromMs,
  };
}

/** Longer than it takes until system information is asked for again. */
const maxUnnoticedMs = 60_000;
const maxUnseenMs = 86_400_000;
const usualAheadMs = 3_600_000;

function withReadUntil(state: ProjectState, toMs: number): ProjectState {
  const { skips = [], backlog, aheadThroughMs, ...kept } = state;
  const left = skips.flatMap((skip) =>
    skip.beginMs < toMs ? [{ ...skip, endMs: Math.min(skip.endMs, toMs - 1) }] : [],
  );
  const rewound = withThrough({ ...kept, backlog, aheadThroughMs }, toMs);
  return {
    ...rewound,
    rereadThroughMs: Math.min(state.rereadThroughMs, toMs),
    ...(state.heldSinceMs === undefined ? {} : { heldSinceMs: Math.min(state.heldSinceMs, toMs) }),
    ...(left.length === 0 ? {} : { skips: left }),
  };
}

/** Returns the time up to which every end of a project has been read, except for its backlog. */
export function readThroughMs({ aheadThroughMs, scannedThroughMs }: ProjectState): number {
  return aheadThroughMs ?? scannedThroughMs;
}

/** Returns the next window of the backlog to read: its oldest part, at most a day. */
export function toNextWindow({ backlog = [] }: ProjectState): Window | undefined {
  const [oldest] = backlog;
  return oldest && { beginMs: oldest.beginMs, endMs: Math.min(oldest.endMs, oldest.beginMs + dayMs - 1) };
}

/**
 * Notes that a window up to now has been read, except for the rest. After a clock was set back, everything later than now goes
 * with it.
 */
export function withNewestRead(state: ProjectState, window: Window, rest: readonly Window[]): ProjectState {
  const { againFromMs: _again, ...kept } = state;
  return withRead(kept, window, rest, window.endMs);
}

/**
 * Notes the same of a project that is behind: the backlog continues where it is, and what was read before is read again after it.
 * Otherwise an overlap that no round has time for would be begun in every round, and never be done.
 */
export function withNewestReadBehind(
  state: ProjectState,
  window: Window,
  { rest, sinceMs, newFromMs }: { rest: readonly Window[]; sinceMs: number; newFromMs: number },
): ProjectState {
  const { backlog = [], againFromMs } = state;
  const open = backlog.flatMap((each) => rest.flatMap((other) => common(each, other)));
  const fresh = rest.flatMap((each) => from(each, newFromMs));
  const read = withNewestRead(state, window, [...open, ...fresh]);
  const isOverlapRead = rest.every(({ endMs }) => endMs < sinceMs);
  // What an earlier round left stays to be read, although this one has read its own overlap.
  const leftFromMs = isOverlapRead ? againFromMs : Math.min(againFromMs ?? sinceMs, sinceMs);
  return leftFromMs === undefined ? read : { ...read, againFromMs: leftFromMs };
}

/** Cuts a window to the part from a time on. */
export function from({ beginMs, endMs }: Window, fromMs: number): Window[] {
  const laterMs = Math.max(beginMs, fromMs);
  return endMs < laterMs ? [] : [{ beginMs: laterMs, endMs }];
}

function common(one: Window, other: Window): Window[] {
  return from({ beginMs: one.beginMs, endMs: Math.min(one.endMs, other.endMs) }, other.beginMs);
}

/** Notes that a window of the backlog has been read, except for the rest. */
export function withPastRead(state: ProjectState, window: Window, rest: readonly Window[]): ProjectState {
  return withRead(state, window, rest, readThroughMs(state));
}

/** The same, read no further than up to a time. */
export function withThrough(state: ProjectState, throughMs: number): ProjectState {
  const outside = { beginMs: throughMs + 1, endMs: throughMs + 1 };
  return withRead(state, outside, [], Math.min(throughMs, readThroughMs(state)));
}

function withRead(state: ProjectState, window: Window, rest: readonly Window[], throughMs: number): ProjectState {
  const { aheadThroughMs: _ahead, backlog: before = [], ...kept } = state;
  const left = before.flatMap((each) => without(each, window));
  const backlog = unite([...left, ...rest].flatMap((each) => until(each, throughMs)));
  const [oldest] = backlog;
  if (oldest === undefined) return { ...kept, scannedThroughMs: throughMs };
  const scannedThroughMs = Math.min(throughMs, Math.max(state.scannedThroughMs, oldest.beginMs - 1));
  return { ...kept, scannedThroughMs, aheadThroughMs: throughMs, backlog };
}

function without({ beginMs, endMs }: Window, taken: Window): Window[] {
  const older = { beginMs, endMs: Math.min(endMs, taken.beginMs - 1) };
  const newer = { beginMs: Math.max(beginMs, taken.endMs + 1), endMs };
  return [older, newer].filter((each) => each.beginMs <= each.endMs);
}

function until({ beginMs, endMs }: Window, throughMs: number): Window[] {
  return beginMs > throughMs ? [] : [{ beginMs, endMs: Math.min(endMs, throughMs) }];
}

/** Oldest first, and one where they overlap; too many are read as if they did. */
function unite(windows: readonly Window[]): Window[] {
  const united: Window[] = [];
  for (const each of windows.toSorted((one, other) => one.beginMs - other.beginMs)) {
    const last = united.at(-1);
    if (last === undefined || (each.beginMs > last.endMs && united.length < maxWindows)) united.push(each);
    else united[united.length - 1] = { beginMs: last.beginMs, endMs: Math.max(last.endMs, each.endMs) };
  }
  return united;
}

const dayMs = 86_400_000;
const maxWindows = 50;
