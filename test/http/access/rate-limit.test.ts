import { describe, expect, it } from 'vitest';
import { createRateLimit } from '../../../src/http/access/rate-limit.ts';

describe('http/access/rate-limit', () => {
  it('allows a burst, and then one each time the interval has passed', () => {
    let ticks = 0;
    const isAllowed = createRateLimit(() => ticks);
    const limit = { everyMs: 1000, burst: 3 };
    const ask = (times: number): boolean[] => Array.from({ length: times }, () => isAllowed(limit));

    expect(ask(4)).toEqual([true, true, true, false]);
    ticks += 999;
    expect(ask(1)).toEqual([false]);
    ticks += 1;
    expect(ask(2)).toEqual([true, false]);
    ticks += 60_000;
    expect(ask(4)).toEqual([true, true, true, false]);
  });

  it('allows everything without a limit', () => {
    const isAllowed = createRateLimit(() => 0);
    expect(Array.from({ length: 100 }, () => isAllowed(undefined)).includes(false)).toBe(false);
  });
});
