import type { Clock } from '../../src/domain/clock.ts';
import { systemClock } from '../../src/domain/system-clock.ts';

/** A clock that a test controls; other functions come from the process, and vitest's fake timers replace them. */
export function fakeClock(own: Partial<Clock> = {}): Clock {
  const { ticks = systemClock.ticks } = own;
  return { ...systemClock, awakeTicks: ticks, ...own };
}
