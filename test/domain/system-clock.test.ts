import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { waitFor } from '../../src/domain/clock.ts';
import { systemClock } from '../../src/domain/system-clock.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it('does not count the time in which the process is suspended', async () => {
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

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const orElse = (): Error => new Error('waited long enough');

describe('api/wait-for', () => {
  it('returns the result of the promise', async () => {
    const { signal } = new AbortController();
    expect(await waitFor(Promise.resolve(1), { forMs: 100, signal, orElse, clock: systemClock })).toBe(1);
    await expect(
      waitFor(Promise.reject(new Error('gone')), { forMs: 100, signal, orElse, clock: systemClock }),
    ).rejects.toThrow('gone');
    await vi.advanceTimersByTimeAsync(0);
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
  });

  it('stops waiting at the timeout', async () => {
    const { signal } = new AbortController();
    const outcome = waitFor(new Promise(() => {}), { forMs: 100, signal, orElse, clock: systemClock }).catch(
      (error: unknown) => error,
    );
    await vi.advanceTimersByTimeAsync(100);
    expect(await outcome).toMatchObject({ message: 'waited long enough' });
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
  });

  it.each([true, false])('stops waiting when the poll ends (ended before the wait: %s)', async (isBefore) => {
    const ending = new AbortController();
    if (isBefore) ending.abort();
    const waiting = waitFor(new Promise(() => {}), { forMs: 100, signal: ending.signal, orElse, clock: systemClock });
    const outcome = waiting.catch((error: unknown) => error);
    ending.abort();
    expect(await outcome).toMatchObject({ message: 'waited long enough' });
    expect([vi.getTimerCount(), getEventListeners(ending.signal, 'abort').length]).toEqual([0, 0]);
  });
});
