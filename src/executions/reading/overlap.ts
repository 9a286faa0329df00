import type { Window } from '../../api/paging.ts';

/**
 * The overlaps of a round: how far it reads again before what was read, and how far after now. Longer if ends turned up late,
 * or clocks were wrong.
 */
export type Overlap = {
  readonly ms: (nowMs: number) => number;
  /** An end that turned up this long after the time up to which its project had been read. */
  readonly noteLateness: (latenessMs: number, nowMs: number) => void;
  /** A pass over the last day found what all rounds had missed: it became visible after more than the overlap. */
  readonly noteMissed: (nowMs: number) => void;
  /** The clocks of members that answered at about the same time. */
  readonly noteClocks: (serverTimes: readonly number[], nowMs: number) => void;
  /** The clock was not seen for a while. */
  readonly noteUnseen: () => void;
  /** The clock had reached this time when it was set back. */
  readonly noteReached: (reachedMs: number) => void;
  /** Returns how far a clock has come that is, or was, more than a day ahead: after a restart nothing else reports it. */
  readonly reachedMs: (nowMs: number) => number | undefined;
  /** Returns the latest time that ends may have: after now, until a clock that was set back has caught up. */
  readonly untilMs: (nowMs: number) => number;
  /** The clock was set ahead: the times between were never. */
  readonly noteLeap: (leap: Window) => void;
  readonly leap: () => Window | undefined;
  /** Returns how much of the time since then never was. */
  readonly leaptMs: (sinceMs: number) => number;
};

/** Members' clocks differ, and ends become visible late: what was seen of either widens the overlap for a day. */
export function createOverlap(
  minMs: number,
  {
    isPastUnknown = false,
    leap: lastLeap,
    reachedMs: lastReachedMs = Number.NEGATIVE_INFINITY,
  }: {
    isPastUnknown?: boolean;
    leap?: Window | undefined;
    reachedMs?: number | undefined;
  } = {},
): Overlap {
  let widest = { ms: minMs, untilMs: 0 };
  let missedAtMs = Number.NEGATIVE_INFINITY;
  // It may have gone on since.
  let latestMs = lastReachedMs + rememberedForMs;
  let isUnseen = isPastUnknown;
  let leap = lastLeap;

  function widen(ms: number, nowMs: number): void {
    const bounded = Math.min(ms, maxMs);
    if (bounded >= widest.ms || nowMs >= widest.untilMs) {
      widest = { ms: Math.max(bounded, minMs), untilMs: nowMs + rememberedForMs };
    }
  }

  function ms(nowMs: number): number {
    // A clock that was set back makes no day longer.
    return nowMs < widest.untilMs && widest.untilMs - nowMs <= rememberedForMs ? widest.ms : minMs;
  }

  function noteReached(reachedMs: number): void {
    // In an absence it may have reached more than it had when it was last seen.
    latestMs = Math.max(latestMs, isUnseen ? reachedMs + rememberedForMs : reachedMs);
    isUnseen = false;
  }

  return {
    ms,
    noteMissed: (nowMs) => {
      // All ends that one round finds were missed with the same overlap.
      if (nowMs !== missedAtMs) widen(2 * ms(nowMs), nowMs);
      missedAtMs = nowMs;
    },
    noteLateness: (latenessMs, nowMs) => {
      // As long again: the latest of a few is not the latest of all.
      if (latenessMs > minMs / 2) widen(2 * latenessMs, nowMs);
    },
    noteClocks: (serverTimes, nowMs) => {
      const spreadMs = Math.max(...serverTimes) - Math.min(...serverTimes);
      if (spreadMs <= usualSpreadMs) return;
      widen(minMs + spreadMs, nowMs);
      // By the next round a member that is ahead writes later times.
      noteReached(Math.max(...serverTimes) + minMs);
    },
    noteUnseen: () => {
      isUnseen = true;
    },
    noteReached,
    reachedMs: (nowMs) => (latestMs > nowMs + rememberedForMs ? latestMs : undefined),
    noteLeap: (latest) => {
      leap = latest;
    },
    leap: () => leap,
    leaptMs: (sinceMs) => (leap === undefined ? 0 : Math.max(0, leap.endMs - Math.max(leap.beginMs, sinceMs))),
    untilMs: (nowMs) => {
      // Of an absence nothing is known: the clock may have been ahead meanwhile, and been set back.
      if (isUnseen) latestMs = Math.max(latestMs, nowMs + rememberedForMs);
      isUnseen = false;
      return Math.max(nowMs, latestMs);
    },
  };
}

const maxMs = 1_800_000;
const rememberedForMs = 86_400_000;
/** A round takes its time, and times are told in whole seconds. */
const usualSpreadMs = 30_000;
