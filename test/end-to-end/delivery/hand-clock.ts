import type { Clock } from '../../../src/domain/clock.ts';
import { fakeClock } from '../../support/fake-clock.ts';

/** A clock that only the test moves. */
export type HandClock = Clock & { readonly set: (nowMs: number) => void };

export function createHandClock(startMs = 0): HandClock {
  let nowMs = startMs;
  return {
    ...fakeClock({ now: () => nowMs, ticks: () => nowMs, random: () => 0 }),
    set: (toMs) => {
      nowMs = toMs;
    },
  };
}
