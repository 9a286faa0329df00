import type { Window } from '../../api/paging.ts';

/** The reasons why a project is not read. The progress of a project on hold does not change. */
const holds = ['disabled', 'hidden', 'missing', 'excluded'] as const;
export type Hold = (typeof holds)[number];

export type ProjectState = {
  readonly project: string;
  /** The start of counting. Executions that ended earlier are not counted. */
  readonly countedFromMs: number;
  /** Runs that ended after `countedFromMs` and still do not count; absent if there are none. */
  readonly earlier?: EarlierRuns | undefined;
  /** Entries that ended before this time were removed, so executions of that time must never be counted again. */
  readonly prunedThroughMs?: number | undefined;
  /** The time before which all ended executions have been read. */
  readonly scannedThroughMs: number;
  /** The time up to which all executions except the backlog are read. Absent without a backlog. */
  readonly aheadThroughMs?: number | undefined;
  /** The windows before `aheadThroughMs` that have not been read, oldest first. */
  readonly backlog?: readonly Window[] | undefined;
  /** The time from which all executions are read again after the backlog. Absent if only the overlap is read again. */
  readonly againFromMs?: number | undefined;
  /**
   * Windows that were skipped because they are too old. The executions in these windows have not been counted as skipped yet.
   */
  readonly skips?: readonly Skip[] | undefined;
  /** Executions that ended before this time were read twice: the second time a day after the first. */
  readonly rereadThroughMs: number;
  readonly comparedWeekAtMs?: number | undefined;
  readonly hold?: Hold | undefined;
  readonly heldSinceMs?: number | undefined;
  /** The end of the restore gap, if the project has been read up to it. */
  readonly gapReadMs?: number | undefined;
};

/** A skipped window, and the reason: a hold or an outage. */
export type Skip = Window & {
  readonly reason: string;
  /**
   * The number of runs in the part of the window that was already counted as skipped. `isUnknown` is true if the server did not
   * report all runs.
   */
  readonly runs?: number;
  readonly isUnknown?: boolean;
};

/**
 * Runs that do not count after a restore: runs with ids up to `throughId` that ended before `untilMs`. A run with a
 * greater id counts even with an earlier date, because the clock may have been set back.
 */
type EarlierRuns = { readonly untilMs: number; readonly throughId: number };

/** The activity of a project, which is not stored. */
export type ProjectActivity = {
  /** The time until which the project is read in every round. */
  readonly activeUntilMs: number;
  readonly readAtMs: number;
  /** The time of the next comparison of the totals of the last day. */
  readonly nextDayMs: number;
  /** The time since which the server has shown no row of the project; rows since then do not count as read. */
  readonly unshownSinceMs: number | undefined;
  /** The times of the last two counted runs of the project, latest first. */
  readonly lastRunsMs?: readonly number[];
  /** True if the last day of the project has too many executions for one read. */
  readonly isDayLong: boolean;
};

export function toNewProject(project: string, countedFromMs: number): ProjectState {
  return { project, countedFromMs, scannedThroughMs: countedFromMs, rereadThroughMs: countedFromMs };
}

/** Resumes a project after a hold or an outage. Executions before the limit are skipped. */
export function resume(state: ProjectState, nowMs: number, catchUpLimitMs: number): ProjectState {
  const { hold, heldSinceMs: _since, ...rest } = state;
  const limitMs = nowMs - catchUpLimitMs;
  // A backlog is kept, because its creation respected the limit. After a clock was set back, read times may be before the
  // beginning of counting.
  if (Math.max(readThroughMs(state), state.countedFromMs) >= limitMs) return rest;
  const beginMs = rest.scannedThroughMs;
  const skips = [...(rest.skips ?? []), { beginMs, endMs: limitMs - 1, reason: hold ?? 'outage' }];
  // Entries of the skipped time are removed later in small steps.
  const prunedThroughMs = rest.prunedThroughMs ?? rest.countedFromMs;
  return { ...toNewProject(state.project, limitMs), prunedThroughMs, skips };
}

/**
 * Changes a state after the server clock was set back to `toMs`: all executions after `toMs` are read and counted again. For a
 * new project, counting begins a minute earlier, because the step may have been noticed late. A new project has no earlier runs
 * that could be counted by mistake.
 */
export function rewind(state: ProjectState, toMs: number, isNew = false): ProjectState {
  return rewindAbsent(state, { toMs: isNew ? toMs - maxUnnoticedMs : toMs, isCertain: true });
}

/**
 * Changes a state after the clock was set back by an unknown amount while the exporter was not running. If a read time is in
 * the future, its distance from now is the known minimum of this amount. Counting begins earlier by the minimum. The clock may
 * have been set back by more, usually by an hour. So the rest of an hour before now is read again, or as much as the minimum if
 * that is longer.
 */
export function rewindUnseen(state: ProjectState, nowMs: number): ProjectState {
  const { countedFromMs, prunedThroughMs = Number.NEGATIVE_INFINITY } = state;
  const aheadMs = Math.max(0, readThroughMs(state) - nowMs);
  const unreadMs = aheadMs === 0 ? 0 : Math.max(aheadMs, usualAheadMs - aheadMs);
  const beganMs = countedFromMs > nowMs ? Math.max(countedFromMs - aheadMs, prunedThroughMs) : countedFromMs;
  return { ...withReadUntil(state, nowMs - Math.min(unreadMs, maxUnseenMs)), countedFromMs: beganMs };
}

/**
 * Changes a state after the clock was set back by a known amount while the exporter was not running. Read times in the future
 * prove that the clock was set back. If no runs were read before, a wrong assumption about the clock has no effect. Without
 * proof, counting does not begin earlier, because perhaps not the server clock but the exporter's clock was set.
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

/** Returns the time up to which all executions of a project, except for its backlog, have been read. */
export function readThroughMs({ aheadThroughMs, scannedThroughMs }: ProjectState): number {
  return aheadThroughMs ?? scannedThroughMs;
}

/** Returns the oldest part of the backlog, one day at most. */
export function toNextWindow({ backlog = [] }: ProjectState): Window | undefined {
  const [oldest] = backlog;
  return oldest && { beginMs: oldest.beginMs, endMs: Math.min(oldest.endMs, oldest.beginMs + dayMs - 1) };
}

/** Records that a window up to now has been read, except for `rest`. Progress beyond now is removed. */
export function withNewestRead(state: ProjectState, window: Window, rest: readonly Window[]): ProjectState {
  const { againFromMs: _again, ...kept } = state;
  return withRead(kept, window, rest, window.endMs);
}

/**
 * For a project with a backlog, records that a window up to now has been read, except for `rest`. `rest` is read after
 * the backlog. With `rest` first, a project with a long overlap would never finish its backlog.
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
  // The rest of an earlier round stays unread.
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

/** Removes the progress of a project beyond a time. */
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

/** Sorts windows and joins overlapping windows. If there are too many windows, joins the closest. */
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
