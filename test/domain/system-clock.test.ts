import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/domain/system-clock.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it('counts as awake the time in which the process runs, asked for or not, and not that in which it is stopped', () => {
  vi.useFakeTimers();
  const beganMs = systemClock.awakeTicks();
  vi.advanceTimersByTime(60_000);
  expect(systemClock.awakeTicks() - beganMs).toBe(60_000);
  const stoppedUntilTicks = systemClock.ticks() + 240_000;
  vi.spyOn(performance, 'now').mockReturnValue(stoppedUntilTicks);
  expect(systemClock.awakeTicks() - beganMs).toBe(62_000);
});
