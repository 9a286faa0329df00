import { describe, expect, it } from 'vitest';
import { createRateLimit } from '../../../src/http/access/access.ts';

const limit = { everyMs: 1000, burst: 3 };

describe('http/access/rate-limit', () => {
  it('allows a burst, and then one request in each interval', () => {
    let ticks = 0;
    const isAllowed = createRateLimit(() => ticks);
    const ask = (times: number): boolean[] => Array.from({ length: times }, () => isAllowed(limit, undefined));

    expect(ask(4)).toEqual([true, true, true, false]);
    ticks += 999;
    expect(ask(1)).toEqual([false]);
    ticks += 1;
    expect(ask(2)).toEqual([true, false]);
    ticks += 60_000;
    expect(ask(4)).toEqual([true, true, true, false]);
  });

  it('does not slow down a known client when others send many requests', () => {
    const isAllowed = createRateLimit(() => 0);
    const ask = (client?: string): boolean[] => Array.from({ length: 4 }, () => isAllowed(limit, client));

    expect(ask()).toEqual([true, true, true, false]);
    expect(ask('user prometheus')).toEqual([true, true, true, false]);
    expect(ask('user grafana')).toEqual([true, true, true, false]);
  });

  it('remembers the last 1,000 clients', () => {
    const isAllowed = createRateLimit(() => 0);
    const once = { everyMs: 1000, burst: 1 };
    for (let client = 0; client < 1000; client += 1) isAllowed(once, String(client));
    expect(isAllowed(once, '0')).toBe(false);
    isAllowed(once, '1000');
    expect(isAllowed(once, '0')).toBe(false);
    expect(isAllowed(once, '1')).toBe(true);
  });
});
