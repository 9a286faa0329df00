import { describe, expect, it } from 'vitest';
import { createBreaker, createBreakerMemory } from '../../src/api/breaker.ts';
import { ApiError, type ApiErrorDetails } from '../../src/api/errors.ts';
import { fakeClock } from '../support/fake-clock.ts';

function fault(details: Partial<ApiErrorDetails> = {}): ApiError {
  return new ApiError('GET system-info: gone', { kind: 'network', apiEndpoint: 'system-info', ...details });
}

function setUp(random = 1) {
  let nowTicks = 0;
  const changes: boolean[] = [];
  const breaker = createBreaker({
    clock: fakeClock({ ticks: () => nowTicks, random: () => random }),
    onChange: (isOpen) => changes.push(isOpen),
  });
  const request = (end: ApiError | undefined): void => {
    breaker.begin();
    breaker.end(end);
  };
  return {
    breaker,
    changes,
    request,
    open: () => {
      for (let count = 0; count < 5; count++) request(fault());
    },
    /** The time until a request of the normal lane may be the probe. */
    closedForMs: () => {
      const startedTicks = nowTicks;
      while (breaker.refusal('normal') !== undefined && nowTicks < startedTicks + 100_000) nowTicks += 100;
      return nowTicks - startedTicks;
    },
  };
}

describe('api/breaker', () => {
  it('opens after five outages in a row', () => {
    const { breaker, changes, request } = setUp();
    for (let count = 0; count < 4; count++) request(fault());
    expect([breaker.refusal('normal'), changes]).toEqual([undefined, []]);

    const last = fault({ kind: 'timeout' });
    request(last);
    expect(breaker.refusal('normal')).toEqual({ kind: 'timeout', message: 'GET system-info: gone' });
    expect(changes).toEqual([true]);
  });

  it.each<Partial<ApiErrorDetails>>([
    { kind: 'network' },
    { kind: 'tls' },
    { kind: 'timeout' },
    { kind: 'server', status: 502 },
    { kind: 'server', status: 503 },
    { kind: 'server', status: 504 },
  ])('counts %o as an outage', (details) => {
    const { changes, request } = setUp();
    for (let count = 0; count < 5; count++) request(fault(details));
    expect(changes).toEqual([true]);
  });

  it.each<Partial<ApiErrorDetails>>([
    { kind: 'server', status: 500 },
    { kind: 'decode', status: 200 },
    { kind: 'forbidden', status: 403 },
    { kind: 'unauthorized', status: 401 },
    { kind: 'busy', status: 429 },
    { kind: 'passive', status: 503 },
    { kind: 'too_large' },
  ])('counts %o as a response', (details) => {
    const { breaker, changes, request } = setUp();
    for (let count = 0; count < 20; count++) request(fault(details));
    expect([breaker.refusal('normal'), changes]).toEqual([undefined, []]);

    for (let count = 0; count < 4; count++) request(fault());
    request(fault(details));
    request(fault());
    expect(changes).toEqual([]);
  });

  it('sends vital requests as probes, one at a time', () => {
    const { breaker, open } = setUp();
    open();
    expect(breaker.refusal('normal')).toBeDefined();
    expect(breaker.refusal('vital')).toBeUndefined();
    breaker.begin();
    expect(breaker.refusal('vital')).toBeDefined();
    breaker.end(fault());
    expect(breaker.refusal('vital')).toBeUndefined();
  });

  it('never uses an enrichment request as a probe', () => {
    const { breaker, open, closedForMs, request } = setUp();
    open();
    closedForMs();
    expect(breaker.refusal('normal')).toBeUndefined();
    expect(breaker.refusal('enrichment')).toBeDefined();
    request(undefined);
    expect(breaker.refusal('enrichment')).toBeUndefined();
  });

  it('closes on the first response of any kind', () => {
    const { breaker, changes, open, request } = setUp();
    open();
    request(fault({ kind: 'forbidden', status: 403 }));
    expect(breaker.refusal('normal')).toBeUndefined();
    expect(changes).toEqual([true, false]);

    open();
    request(undefined);
    expect(changes).toEqual([true, false, true, false]);
  });

  it.each([
    [1, [2000, 4000, 8000, 16_000, 30_000, 30_000]],
    [0, [1000, 2000, 4000, 8000, 15_000, 15_000]],
  ])('stays open longer after each failed probe (random %d)', (random, expected) => {
    const { closedForMs, open, request } = setUp(random);
    open();
    const openMs: number[] = [];
    for (let probe = 0; probe < 6; probe++) {
      openMs.push(closedForMs());
      request(fault());
    }
    expect(openMs).toEqual(expected);
  });

  it('opens only for the shortest time after a probe succeeded', () => {
    const { closedForMs, open, request } = setUp();
    open();
    for (let probe = 0; probe < 4; probe++) request(fault());
    request(undefined);
    open();
    expect(closedForMs()).toBe(2000);
  });

  it('does not count requests that were already in progress as failed probes', () => {
    const { breaker, closedForMs } = setUp();
    for (let count = 0; count < 10; count++) breaker.begin();
    for (let count = 0; count < 10; count++) breaker.end(fault());
    expect(closedForMs()).toBe(2000);
  });

  it('ignores the result of a request whose caller stopped waiting', () => {
    const { breaker, changes, open, request } = setUp();
    for (let count = 0; count < 4; count++) request(fault());
    breaker.begin();
    breaker.abandon();
    expect(changes).toEqual([]);
    request(fault());
    expect(changes).toEqual([true]);

    open();
    breaker.begin();
    breaker.abandon();
    expect(changes).toEqual([true]);
    expect(breaker.refusal('normal')).toBeDefined();
    // The abandoned probe no longer counts, so the next probe may start.
    expect(breaker.refusal('vital')).toBeUndefined();
  });

  it('continues with the circuit of an earlier breaker', () => {
    const changes: boolean[] = [];
    const memory = createBreakerMemory();
    const clock = fakeClock({ ticks: () => 0, random: () => 1 });
    const before = createBreaker({ clock, onChange: () => undefined, memory });
    for (let count = 0; count < 5; count++) {
      before.begin();
      before.end(fault());
    }
    const after = createBreaker({ clock, onChange: (isOpen) => changes.push(isOpen), memory });
    expect(after.refusal('normal')).toEqual({ kind: 'network', message: 'GET system-info: gone' });
    after.begin();
    after.end(undefined);
    expect({ refusal: after.refusal('normal'), changes }).toEqual({ refusal: undefined, changes: [false] });
  });
});
