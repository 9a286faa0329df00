import type { Clock } from '../../src/domain/clock.ts';
import { systemClock } from '../../src/domain/system-clock.ts';

/** A clock whose hands a test moves; what it does not name is the process's own, which vitest's fake timers replace. */
export function fakeClock(own: Partial<Clock> = {}): Clock {
  const { ticks = systemClock.ticks } = own;
  return { ...systemClock, awakeTicks: ticks, ...own };
}
