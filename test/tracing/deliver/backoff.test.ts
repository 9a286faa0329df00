import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../../src/tracing/deliver/observer.ts';

describe('tracing/deliver/backoff', () => {
  it('waits longer after each failed try, at most a minute', () => {
    const waits = [0, 1, 2, 3, 4, 5, 6, 7, 1000].map((tries) => backoffMs(tries, 1));
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('spreads simultaneous tries over the whole wait', () => {
    expect([0, 0.25, 0.5].map((random) => backoffMs(2, random))).toEqual([0, 1000, 2000]);
  });

  it('never tries before the time that the backend asked for', () => {
    expect([backoffMs(0, 0.5, 300_000), backoffMs(5, 1, 7000)]).toEqual([300_000, 32_000]);
  });
});
