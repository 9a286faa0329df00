import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backoffMs } from '../../../src/tracing/deliver/observer.ts';
import { createWait } from '../../../src/tracing/deliver/pause.ts';
import { fakeClock } from '../../support/fake-clock.ts';

describe('tracing/deliver/backoff', () => {
  it('waits longer after each failed attempt, but at most a minute', () => {
    const waits = [0, 1, 2, 3, 4, 5, 6, 7, 1000].map((tries) => backoffMs(tries, 1));
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('spreads simultaneous attempts over the whole wait', () => {
    expect([0, 0.25, 0.5].map((random) => backoffMs(2, random))).toEqual([0, 1000, 2000]);
  });

  it('never tries again before the time that the backend requested', () => {
    expect([backoffMs(0, 0.5, 300_000), backoffMs(5, 1, 7000)]).toEqual([300_000, 32_000]);
  });
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function begin(signal: AbortSignal) {
  const seen = { isOver: false };
  void createWait(fakeClock())(1000, signal).then(() => {
    seen.isOver = true;
  });
  return seen;
}

describe('tracing/deliver/pause', () => {
  it('leaves no timer and no listener after its time', async () => {
    const { signal } = new AbortController();
    const seen = begin(signal);
    await vi.advanceTimersByTimeAsync(999);
    expect(seen.isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect([seen.isOver, vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([true, 0, 0]);
  });

  it('leaves no timer when the signal aborts', async () => {
    const ending = new AbortController();
    const seen = begin(ending.signal);
    ending.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect([seen.isOver, vi.getTimerCount()]).toEqual([true, 0]);
  });

  it('does not start if the signal is already aborted', async () => {
    const signal = AbortSignal.abort();
    const seen = begin(signal);
    await vi.advanceTimersByTimeAsync(0);
    expect([seen.isOver, vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([true, 0, 0]);
  });
});
