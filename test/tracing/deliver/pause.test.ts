import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWait } from '../../../src/tracing/deliver/pause.ts';
import { fakeClock } from '../../support/fake-clock.ts';

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
  it('ends after its time, and leaves no timer and no listener behind', async () => {
    const { signal } = new AbortController();
    const seen = begin(signal);
    await vi.advanceTimersByTimeAsync(999);
    expect(seen.isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect([seen.isOver, vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([true, 0, 0]);
  });

  it('ends when the signal aborts, and leaves no timer behind', async () => {
    const ending = new AbortController();
    const seen = begin(ending.signal);
    ending.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect([seen.isOver, vi.getTimerCount()]).toEqual([true, 0]);
  });

  it('does not start if the signal has aborted', async () => {
    const signal = AbortSignal.abort();
    const seen = begin(signal);
    await vi.advanceTimersByTimeAsync(0);
    expect([seen.isOver, vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([true, 0, 0]);
  });
});
