import type { Clock } from '../../src/domain/clock.ts';
import { systemClock } from '../../src/domain/system-clock.ts';

/** A clock that a test controls; vitest's fake timers control the timers. */
export function fakeClock(own: Partial<Clock> = {}): Clock {
  const { ticks = systemClock.ticks } = own;
  return { ...systemClock, awakeTicks: ticks, ...own };
}
