/** How far before what was read a round reads again: at least what is configured, more where ends turn up late. */
export type Overlap = {
  readonly ms: (nowMs: number) => number;
  /** An end that turned up this long after the time up to which its project had been read. */
  readonly noteLateness: (latenessMs: number, nowMs: number) => void;
  /** A pass over the last day found what all rounds had missed: it became visible after more than the overlap. */
  readonly noteMissed: (nowMs: number) => void;
  /** The clocks of members that answered at about the same time. */
  readonly noteClocks: (serverTimes: readonly number[], nowMs: number) => void;
};

/** Members' clocks differ, and ends become visible late: what was seen of either widens the overlap for a day. */
export function createOverlap(leastMs: number): Overlap {
  let widest = { ms: leastMs, untilMs: 0 };
  let missedAtMs = Number.NEGATIVE_INFINITY;

  function widen(ms: number, nowMs: number): void {
    const bounded = Math.min(ms, mostMs);
    if (bounded >= widest.ms || nowMs >= widest.untilMs) {
      widest = { ms: Math.max(bounded, leastMs), untilMs: nowMs + rememberedForMs };
    }
  }

  function ms(nowMs: number): number {
    // A clock that was set back makes no day longer.
    return nowMs < widest.untilMs && widest.untilMs - nowMs <= rememberedForMs ? widest.ms : leastMs;
  }

  return {
    ms,
    noteMissed: (nowMs) => {
      // What one round finds was missed with the same overlap.
      if (nowMs !== missedAtMs) widen(2 * ms(nowMs), nowMs);
      missedAtMs = nowMs;
    },
    noteLateness: (latenessMs, nowMs) => {
      // As long again: the latest of a few is not the latest of all.
      if (latenessMs > leastMs / 2) widen(2 * latenessMs, nowMs);
    },
    noteClocks: (serverTimes, nowMs) => {
      const spreadMs = Math.max(...serverTimes) - Math.min(...serverTimes);
      if (spreadMs > usualSpreadMs) widen(leastMs + spreadMs, nowMs);
    },
  };
}

const mostMs = 1_800_000;
const rememberedForMs = 86_400_000;
/** A round takes its time, and times are told in whole seconds. */
const usualSpreadMs = 30_000;
