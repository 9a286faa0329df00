import type { Clock } from '../../src/domain/clock.ts';
import { systemClock } from '../../src/domain/system-clock.ts';

/** A clock that a test controls; functions that it does not set are those of the process, which vitest's fake timers replace. */
export function fakeClock(own: Partial<Clock> = {}): Clock {
  const { ticks = systemClock.ticks } = own;
  return { ...systemClock, awakeTicks: ticks, ...own };
}
