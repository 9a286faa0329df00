import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it('counts the time in which the process runs, and not the time in which it is stopped', async () => {
  vi.useFakeTimers();
  // Other tests in the process may have started its timers already.
  vi.resetModules();
  const { systemClock } = await import('../../src/domain/system-clock.ts');
  const beganMs = systemClock.awakeTicks();
  vi.advanceTimersByTime(60_000);
  expect(systemClock.awakeTicks() - beganMs).toBe(60_000);
  const stoppedUntilTicks = systemClock.ticks() + 240_000;
  vi.spyOn(performance, 'now').mockReturnValue(stoppedUntilTicks);
  expect(systemClock.awakeTicks() - beganMs).toBe(62_000);
});
