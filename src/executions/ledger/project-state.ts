import type { Window } from '../../api/paging.ts';

/** The reasons why a project is not read; meanwhile its progress does not change. */
const holds = ['disabled', 'hidden', 'missing', 'excluded'] as const;
export type Hold = (typeof holds)[number];

export type ProjectState = {
  readonly project: string;
  /** Executions that ended before this time are not counted. */
  readonly countedFromMs: number;
  /** Runs after `countedFromMs` that do not count either; absent if there are none. */
  readonly earlier?: EarlierRuns | undefined;
  /**
   * Entries that ended before this time have been removed and must never be counted again; absent if no entry has been removed.
   */
  readonly prunedThroughMs?: number | undefined;
  /** All executions that ended before this time have been read. */
  readonly scannedThroughMs: number;
  /** Executions up to this time have been read too, except for the backlog; absent without a backlog. */
  readonly aheadThroughMs?: number | undefined;
  /** The windows before `aheadThroughMs` that are still to be read, oldest first. */
  readonly backlog?: readonly Window[] | undefined;
  /** After the backlog, everything from this time on is read again; absent if only the overlap is read again. */
  readonly againFromMs?: number | undefined;
  /** Windows that were skipped because they are too old, and are not counted yet. */
  readonly skips?: readonly Skip[] | undefined;
  /** Hours before this time have been read a second time, a day later. */
  readonly rereadThroughMs: number;
  readonly comparedWeekAtMs?: number | undefined;
  readonly hold?: Hold | undefined;
  readonly heldSinceMs?: number | undefined;
  /** The end of the restore gap, if this project has been read up to it. */
  readonly gapReadMs?: number | undefined;
};

/** A skipped window, and why it was skipped: a hold or an outage. */
export type Skip = Window & {
  readonly reason: string;
  /** The number of its runs counted so far; and whether the count is incomplete because the server did not report all runs. */
  readonly runs?: number;
  readonly isUnknown?: boolean;
};

/**
 * After a restore: runs with ids up to `throughId` that ended before `untilMs` do not count. A run with a later id can have an
 * earlier date only because the clock was set back after the copy was made.
 */
type EarlierRuns = { readonly untilMs: number; readonly throughId: number };

/** The activity of a project, in memory only. */
export type ProjectActivity = {
  /** The project is read every round until this time. */
  readonly activeUntilMs: number;
  readonly readAtMs: number;
  /** When to compare the totals of the last day next. */
  readonly nextDayMs: number;
  /** Since when no row of the project has been shown. While this is set, rows do not count as read. */
  readonly unshownSinceMs: number | undefined;
  /** The last two times at which one of its runs was counted, latest first. */
  readonly lastRunsMs?: readonly number[];
  /** True if the last day of the project has too many executions to be read in one turn. */
  readonly isDayLong: boolean;
};

export function toNewProject(project: string, countedFromMs: number): ProjectState {
  return { project, countedFromMs, scannedThroughMs: countedFromMs, rereadThroughMs: countedFromMs };
}

/** Resumes a project after a hold or an outage; skips what is older than the limit. */
export function resume(state: ProjectState, nowMs: number, catchUpLimitMs: number): ProjectState {
  const { hold, heldSinceMs: _since, ...rest } = state;
  const limitMs = nowMs - catchUpLimitMs;
  // A backlog was within the limit when it was created, so it stays.
  if (readThroughMs(state) >= limitMs) return rest;
  const beginMs = rest.scannedThroughMs;
  const skips = [...(rest.skips ?? []), { beginMs, endMs: limitMs - 1, reason: hold ?? 'outage' }];
  // Entries of the skipped time are removed later, a few at a time.
  const prunedThroughMs = rest.prunedThroughMs ?? rest.countedFromMs;
  return { ...toNewProject(state.project, limitMs), prunedThroughMs, skips };
}

/**
 * Changes a state after the server clock was set back to a time: everything after it is unread and counts again. Counting of
 * a new project begins earlier, in case the step was noticed late: a new project has no earlier runs that could be counted by
 * mistake.
 */
export function rewind(state: ProjectState, toMs: number, isNew = false): ProjectState {
  return rewindAbsent(state, { toMs: isNew ? toMs - maxUnnoticedMs : toMs, isCertain: true });
}

/**
 * Changes a state after the clock was set back while the exporter was not running, by an unknown amount. Counting begins
 * earlier by the known minimum. About an hour is read again, because the clock may have been ahead by more than this.
 */
export function rewindUnseen(state: ProjectState, nowMs: number): ProjectState {
  const { countedFromMs, prunedThroughMs = Number.NEGATIVE_INFINITY } = state;
  const aheadMs = Math.max(0, readThroughMs(state) - nowMs);
  const unreadMs = aheadMs === 0 ? 0 : Math.max(aheadMs, usualAheadMs - aheadMs);
  const beganMs = countedFromMs > nowMs ? Math.max(countedFromMs - aheadMs, prunedThroughMs) : countedFromMs;
  return { ...withReadUntil(state, nowMs - Math.min(unreadMs, maxUnseenMs)), countedFromMs: beganMs };
}

/**
 * Changes a state after the clock was set back by a known amount while the exporter was not running. The step is certain if
 * read times are in the future; for a project without earlier runs, a mistake does no harm. Otherwise the exporter's own clock
 * may have been set, and counting must not begin earlier.
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

/** Longer than the interval at which system information is requested. */
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

/** Returns the time up to which all executions of a project have been read, except for its backlog. */
export function readThroughMs({ aheadThroughMs, scannedThroughMs }: ProjectState): number {
  return aheadThroughMs ?? scannedThroughMs;
}

/** Returns the oldest part of the backlog, at most a day. */
export function toNextWindow({ backlog = [] }: ProjectState): Window | undefined {
  const [oldest] = backlog;
  return oldest && { beginMs: oldest.beginMs, endMs: Math.min(oldest.endMs, oldest.beginMs + dayMs - 1) };
}

/** Records that a window up to now has been read, except for `rest`. If a clock was set back, progress after now is removed. */
export function withNewestRead(state: ProjectState, window: Window, rest: readonly Window[]): ProjectState {
  const { againFromMs: _again, ...kept } = state;
  return withRead(kept, window, rest, window.endMs);
}

/**
 * Records that a window up to now has been read, for a project with a backlog. The backlog stays, and `rest` is read after it.
 * Otherwise an overlap that is too long for one round would start in every round and never end.
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
  // The rest of an earlier round is still to be read, even though this round has read its own overlap.
  const leftFromMs = isOverlapRead ? againFromMs : Math.min(againFromMs ?? sinceMs, sinceMs);
  return leftFromMs === undefined ? read : { ...read, againFromMs: leftFromMs };
}

export function from({ beginMs, endMs }: Window, fromMs: number): Window[] {
  const laterMs = Math.max(beginMs, fromMs);
  return endMs < laterMs ? [] : [{ beginMs: laterMs, endMs }];
}

function common(one: Window, other: Window): Window[] {
  return from({ beginMs: one.beginMs, endMs: Math.min(one.endMs, other.endMs) }, other.beginMs);
}

/** Records that a window of the backlog has been read, except for `rest`. */
export function withPastRead(state: ProjectState, window: Window, rest: readonly Window[]): ProjectState {
  return withRead(state, window, rest, readThroughMs(state));
}

/** Limits the progress of a project to a time. */
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

/** Sorts windows, joins those that overlap, and joins the closest if there are too many. */
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
