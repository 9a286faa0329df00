import type { Window } from '../api/paging.ts';
import { readThroughMs } from './backlog.ts';

/** Why a project is not read; nothing of it counts as read meanwhile. */
export const holds = ['disabled', 'hidden', 'missing', 'excluded'] as const;
export type Hold = (typeof holds)[number];

/** How far a project has been read; kept. Times are the server's. */
export type ProjectState = {
  readonly project: string;
  /** What ended before is not counted. */
  readonly countedFromMs: number;
  /** Every end up to here has been read. */
  readonly scannedThroughMs: number;
  /** Up to here as well, but for the backlog; absent where there is none. */
  readonly aheadThroughMs?: number | undefined;
  /** What is still to be read before that, oldest first. */
  readonly backlog?: readonly Window[] | undefined;
  /** What is not read because it is too long ago, and not counted yet. */
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

/** A past that is not caught up with, and what held the project for so long: one of the holds, or an outage. */
export type Skip = Window & {
  readonly reason: string;
  /** How many were counted of it so far, and whether that is not all because the server did not tell. */
  readonly runs?: number;
  readonly isUnknown?: boolean;
};

/** What is remembered of a project while the process lives. */
export type ProjectActivity = {
  /** Read every round until then. */
  readonly activeUntilMs: number;
  readonly readAtMs: number;
  /** When the totals of the last day are to be compared next. */
  readonly nextDayMs: number;
  /** Since when not one of them is shown; then nothing of them counts as read. */
  readonly unshownSinceMs: number | undefined;
  /** Whether its last day held too much to be read with its turn. */
  readonly isDayLong: boolean;
};

/** A project that is seen for the first time. */
export function toNewProject(project: string, countedFromMs: number): ProjectState {
  return { project, countedFromMs, scannedThroughMs: countedFromMs, rereadThroughMs: countedFromMs };
}

/** Back from a hold, or from an outage: what is longer ago than the limit is skipped. */
export function resume(state: ProjectState, nowMs: number, catchUpLimitMs: number): ProjectState {
  const { hold, heldSinceMs: _since, ...rest } = state;
  if (hold === 'excluded') return toNewProject(state.project, nowMs);
  const limitMs = nowMs - catchUpLimitMs;
  // What is being caught up with was near enough when that began.
  if (readThroughMs(state) >= limitMs) return rest;
  const beginMs = rest.scannedThroughMs;
  const skips = [...(rest.skips ?? []), { beginMs, endMs: limitMs - 1, reason: hold ?? 'outage' }];
  return { ...toNewProject(state.project, limitMs), skips };
}
