import type { Clock } from '../../../src/domain/clock.ts';

/** A clock that only the test moves. */
export type HandClock = Clock & { readonly set: (nowMs: number) => void };

export function createHandClock(startMs = 0): HandClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    ticks: () => nowMs,
    set: (toMs) => {
      nowMs = toMs;
    },
  };
}
