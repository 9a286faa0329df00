import type { Window } from '../../api/paging.ts';
import { maxLeapMs, stepMs } from '../../domain/time.ts';

/**
 * Computes how far the windows of a round reach back before the last read, and into the future. Overlaps grow for a day after
 * clocks of members differed, or executions became visible late.
 */
export function createOverlap(
  minMs: number,
  {
    isPastUnknown = false,
    reachedMs: lastReachedMs = Number.NEGATIVE_INFINITY,
  }: { isPastUnknown?: boolean; reachedMs?: number | undefined } = {},
) {
  let widest = { ms: minMs, untilMs: 0 };
  let missedAtMs = Number.NEGATIVE_INFINITY;
  let latestMs = lastReachedMs;
  let isUnseen = isPastUnknown;
  let unseenMs = Number.NEGATIVE_INFINITY;
  let leap: Window | undefined;

  function widen(ms: number, nowMs: number): void {
    const bounded = Math.min(ms, maxMs);
    if (bounded >= widest.ms || nowMs >= widest.untilMs) {
      widest = { ms: Math.max(bounded, minMs), untilMs: nowMs + rememberedForMs };
    }
  }

  function ms(nowMs: number): number {
    // If the clock was set back, the wider overlap ends immediately.
    return nowMs < widest.untilMs && widest.untilMs - nowMs <= rememberedForMs ? widest.ms : minMs;
  }

  function noteReached(reachedMs: number): void {
    latestMs = Math.max(latestMs, reachedMs);
  }

  return {
    ms,
    /** Call when a recount of the last day found executions that rounds had missed. */
    noteMissed: (nowMs: number): void => {
      // All findings of one round were missed with the same overlap, so they widen the overlap once.
      if (nowMs !== missedAtMs) widen(2 * ms(nowMs), nowMs);
      missedAtMs = nowMs;
    },
    /** Call with the delay when an execution became visible long after its project was read. */
    noteLateness: (latenessMs: number, nowMs: number): void => {
      // The overlap is doubled, because the next delay may be longer.
      if (latenessMs > minMs / 2) widen(2 * latenessMs, nowMs);
    },
    /** Records the clocks of members that answered at about the same time. */
    noteClocks: (serverTimes: readonly number[], nowMs: number): void => {
      const spreadMs = Math.max(...serverTimes) - Math.min(...serverTimes);
      if (spreadMs <= stepMs) return;
      widen(minMs + spreadMs, nowMs);
      // A member whose clock is ahead may write later dates until the next round.
      noteReached(Math.max(...serverTimes) + minMs);
    },
    noteUnseen: (): void => {
      isUnseen = true;
    },
    /** Call after the clock was set back, with the time that the clock had reached. */
    noteReached,
    /** Returns the time that the clock has reached, if it is more than a day ahead. The time is stored for the next start. */
    reachedMs: (nowMs: number): number | undefined => (latestMs > nowMs + rememberedForMs ? latestMs : undefined),
    /** Call with the span that a clock skipped when it was set ahead. */
    noteLeap: (latest: Window | undefined): void => {
      leap = latest;
    },
    leap: (): Window | undefined => leap,
    /** Returns how much time after `sinceMs` the clock skipped when it was last set ahead. */
    leaptMs: (sinceMs: number): number =>
      leap === undefined ? 0 : Math.max(0, leap.endMs - Math.max(leap.beginMs, sinceMs)),
    /** Returns the latest possible date of executions: after the clock was set back, the time that it showed before. */
    untilMs: (nowMs: number): number => {
      // While the clock was not observed, it may have been ahead and set back.
      if (isUnseen) unseenMs = Math.max(nowMs + maxLeapMs, latestMs + rememberedForMs);
      isUnseen = false;
      return Math.max(nowMs, latestMs, unseenMs);
    },
  };
}

export type Overlap = ReturnType<typeof createOverlap>;

const maxMs = 1_800_000;
const rememberedForMs = 86_400_000;
