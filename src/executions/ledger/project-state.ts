import type { Window } from '../../api/paging.ts';
import { readThroughMs, withThrough } from './backlog.ts';

/** Why a project is not read; nothing of it counts as read meanwhile. */
export const holds = ['disabled', 'hidden', 'missing', 'excluded'] as const;
export type Hold = (typeof holds)[number];

/** How far a project has been read; kept. Times are the server's. */
export type ProjectState = {
  readonly project: string;
  /** What ended before is not counted. */
  readonly countedFromMs: number;
  /** What ended before is not known any longer, and so must never be counted; absent while that is nothing. */
  readonly prunedThroughMs?: number | undefined;
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
  // What is known of the time that is skipped is forgotten later, a little at a time.
  const prunedThroughMs = rest.prunedThroughMs ?? rest.countedFromMs;
  return { ...toNewProject(state.project, limitMs), prunedThroughMs, skips };
}

/** The server's clock was set back: what was read of the time from then on has to be read again, and counts again. */
export function rewind(state: ProjectState, toMs: number): ProjectState {
  const { countedFromMs, prunedThroughMs = Number.NEGATIVE_INFINITY } = state;
  return {
    ...withReadUntil(state, toMs),
    countedFromMs: Math.min(countedFromMs, Math.max(toMs, prunedThroughMs)),
  };
}

/**
 * The same where the clock was set back while nobody looked. How far it had been ahead is not known, but for the least: counting
 * began that much earlier, and reading again costs little.
 */
export function rewindUnseen(state: ProjectState, nowMs: number): ProjectState {
  const { countedFromMs, prunedThroughMs = Number.NEGATIVE_INFINITY } = state;
  const aheadMs = Math.max(0, readThroughMs(state) - nowMs);
  const beganMs = countedFromMs > nowMs ? Math.max(countedFromMs - aheadMs, prunedThroughMs) : countedFromMs;
  return {
    ...withReadUntil(state, nowMs - Math.min(aheadMs, mostUnseenMs)),
    countedFromMs: beganMs,
  };
}

const mostUnseenMs = 86_400_000;

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
