import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Credentials } from '../../src/api/auth/credentials.ts';
import { createBreaker } from '../../src/api/breaker.ts';
import { createBudget } from '../../src/api/budget.ts';
import { createContact } from '../../src/api/contact.ts';
import { executionMode } from '../../src/api/endpoints/system.ts';
import { ApiError, type ErrorKind } from '../../src/api/errors.ts';
import { createRequester, type Scope } from '../../src/api/requester.ts';
import type { Transport, TransportAnswer, TransportRequest } from '../../src/api/wire/transport.ts';
import { fakeClock } from '../support/fake-clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Reply = Partial<TransportAnswer> | ErrorKind;
const active: Reply = { body: '{"executionMode":"active"}' };

/** A requester whose server sends these replies in order, and repeats the last reply; each reply has its own duration. */
function setUp(
  replies: readonly Reply[],
  {
    tookMs = 0,
    random = 0.5,
    credentials = plain,
    requestsPerSecond = 1000,
    lateTicks = 0,
    endpoint = executionMode,
  } = {},
) {
  let looks = 0;
  const { ticks } = fakeClock();
  // Timers end a little late.
  const clock = fakeClock({ random: () => random, ticks: () => ticks() + lateTicks * looks++ });
  const seen: string[] = [];
  const circuit: boolean[] = [];
  const limitsMs: (number | undefined)[] = [];
  let asked = 0;
  const transport: Transport = {
    get: async (request: TransportRequest) => {
      const reply = replies[Math.min(asked, replies.length - 1)] ?? active;
      asked += 1;
      limitsMs.push(request.timeoutMs);
      if (tookMs > 0) await new Promise((resolve) => setTimeout(resolve, tookMs));
      if (typeof reply === 'string')
        throw new ApiError('GET: failed', { kind: reply, apiEndpoint: request.apiEndpoint });
      return { status: 200, headers: {}, cookies: [], body: '', ...reply };
    },
    postForm: () => Promise.reject(new Error('never')),
    toOwnPath: () => undefined,
    close: async () => {},
  };
  const budget = createBudget({ requestsPerSecond, concurrency: 10, clock });
  const contact = createContact({ dialect: 'auto', apiVersion: 47 });
  const breaker = createBreaker({ clock, onChange: (isOpen) => circuit.push(isOpen) });
  const observe = {
    request: (endpoint: string, code: string) => seen.push(`${endpoint} ${code}`),
    error: (endpoint: string, kind: string) => seen.push(`${endpoint} ${kind}`),
    waited: () => {},
    inFlight: () => {},
  };
  const requester = createRequester({ transport, credentials, contact, budget, breaker, clock, observe });
  const ask = (scope: Partial<Scope> = {}) => {
    const { lane = 'normal', forMs = 10_000, untilTicks, signal } = scope;
    const asking = requester(endpoint, '/', { lane, forMs, untilTicks, signal });
    return asking.then(
      ({ answer }) => answer,
      (error: unknown) => error,
    );
  };
  return { ask, seen, circuit, budget, limitsMs, ticks: clock.ticks, asked: () => asked };
}

const plain: Credentials = {
  isSession: false,
  authorize: async () => ({ headers: {}, generation: 0 }),
  refresh: async () => false,
  renew: async () => false,
};

describe('api/requester', () => {
  it('retries errors that may be temporary', async () => {
    const { ask, seen } = setUp(['network', { status: 502 }, active], { random: 0 });
    expect(await inTime(ask())).toBe('active');
    expect(seen).toEqual([
      'execution-mode none',
      'execution-mode network',
      'execution-mode 502',
      'execution-mode server',
      'execution-mode 200',
    ]);
  });

  it('gives up after the third attempt', async () => {
    const { ask, asked } = setUp(['network'], { random: 0 });
    expect(await inTime(ask())).toMatchObject({ kind: 'network' });
    expect(asked()).toBe(3);
  });

  it.each<[string, Reply]>([
    ['timeout', 'timeout'],
    ['tls', 'tls'],
    ['too_large', 'too_large'],
    ['decode', { body: '{' }],
    ['server', { status: 500 }],
    ['forbidden', { status: 403, body: '{"error":true}' }],
    ['rejected', { status: 400 }],
  ])('makes one attempt if the error is %s', async (kind, reply) => {
    const { ask, asked } = setUp([reply]);
    expect(await inTime(ask())).toMatchObject({ kind });
    expect(asked()).toBe(1);
  });

  it.each<[string, string, string[]]>([
    ['a project that is disabled', 'api.error.project.disabled', []],
    ['an item that is gone', 'api.error.item.doesnotexist', []],
    ['a path that the service does not have', 'api.error.unknown', ['execution-mode not_found']],
  ])('counts %s under its kind', async (_what, errorCode, errors) => {
    const { ask, seen } = setUp([{ status: 404, body: JSON.stringify({ error: true, errorCode }) }]);
    expect(await inTime(ask())).toMatchObject({ kind: 'not_found' });
    expect(seen).toEqual(['execution-mode 404', ...errors]);
  });

  it('makes one attempt if the request may have been too expensive', async () => {
    const { ask, asked } = setUp(['network'], { random: 0, endpoint: { ...executionMode, isDear: true } });
    expect(await inTime(ask())).toMatchObject({ kind: 'network' });
    expect(asked()).toBe(1);
  });

  it('does not start an attempt that would end after the deadline', async () => {
    const { ask, asked } = setUp(['network']);
    expect(await ask({ forMs: 200 })).toMatchObject({ kind: 'network' });
    expect(asked()).toBe(1);
  });

  it('gives each attempt the remaining time', async () => {
    const { ask, limitsMs } = setUp(['network', active], { tookMs: 300, random: 0 });
    const asking = ask({ forMs: 2000 });
    await vi.advanceTimersByTimeAsync(300);
    await vi.waitUntil(() => limitsMs.length === 2);
    await vi.advanceTimersByTimeAsync(300);
    expect(await asking).toBe('active');
    expect(limitsMs.map((limitMs) => Math.round((limitMs ?? 0) / 100))).toEqual([20, 17]);
  });

  it('does not include the wait for admission in the duration of a request', async () => {
    const { ask, limitsMs } = setUp([active], { requestsPerSecond: 1 });
    await ask({ lane: 'vital' });
    const asking = ask({ lane: 'vital', forMs: 1500 });
    await vi.advanceTimersByTimeAsync(1000);
    expect(await asking).toBe('active');
    expect(limitsMs).toEqual([10_000, 1500]);
  });

  it('sends no request after the common deadline', async () => {
    const { ask, seen, circuit, ticks } = setUp([active]);
    const untilTicks = ticks() + 99;
    for (let count = 0; count < 6; count += 1) {
      expect(await ask({ untilTicks })).toMatchObject({
        message: 'GET execution-mode: not asked, not enough time was left before its timeout',
        kind: 'timeout',
        details: { unsent: true, isOwnLimit: true },
      });
    }
    await vi.advanceTimersByTimeAsync(99);
    expect(await ask({ untilTicks })).toMatchObject({
      message: 'GET execution-mode: not asked, its timeout had passed',
    });
    expect([seen, circuit]).toEqual([[], []]);
  });

  it('reports a request that was not admitted in time', async () => {
    const { ask, circuit } = setUp([active], { requestsPerSecond: 1 });
    await ask();
    for (let count = 0; count < 6; count += 1) {
      const asking = ask({ forMs: 100 });
      await vi.advanceTimersByTimeAsync(100);
      expect(await asking).toMatchObject({
        message: 'GET execution-mode: not asked, the request budget was exhausted until its timeout',
        kind: 'timeout',
        details: { unsent: true, isOwnLimit: true },
      });
    }
    expect(circuit).toEqual([]);
  });

  it('does not mistake a late admission for a pause that the server requested', async () => {
    const { ask } = setUp([active], { requestsPerSecond: 1, lateTicks: 0.4 });
    await ask();
    const asking = ask({ forMs: 100 });
    await vi.advanceTimersByTimeAsync(100);
    expect(await asking).toMatchObject({ kind: 'timeout', details: { isOwnLimit: true } });
  });

  it('does not open the circuit after timeouts if the server had less than five seconds to respond', async () => {
    const { ask, seen, circuit, ticks } = setUp(['timeout']);
    for (let count = 0; count < 6; count += 1) await ask({ untilTicks: ticks() + 4999 });
    expect(circuit).toEqual([]);
    expect(seen).toHaveLength(12);
    for (let count = 0; count < 5; count += 1) await ask({ untilTicks: ticks() + 5000 });
    expect(circuit).toEqual([true]);
  });

  it('reports the error of the server if no time is left for another attempt', async () => {
    const { ask, asked } = setUp(['network'], { random: 0, requestsPerSecond: 1 });
    const asking = ask({ forMs: 500 });
    await vi.advanceTimersByTimeAsync(500);
    expect(await asking).toMatchObject({ kind: 'network' });
    expect(asked()).toBe(1);
  });

  it('sends no request to the server during a requested pause', async () => {
    const { ask, asked } = setUp([{ status: 429, headers: { 'retry-after': '30' } }, active]);
    expect(await ask({ forMs: 1 })).toMatchObject({ kind: 'busy' });
    const next = ask({ forMs: 60_000 });
    await vi.advanceTimersByTimeAsync(29_999);
    expect(asked()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await next).toBe('active');
  });

  it('fails immediately if there is no time to send', async () => {
    const { ask, seen } = setUp([{ status: 429, headers: { 'retry-after': '60' } }], { random: 0 });
    expect(await inTime(ask())).toMatchObject({ kind: 'busy', details: { unsent: true } });
    expect(await inTime(ask())).toMatchObject({
      message:
        'GET execution-mode: not asked, the server responded with HTTP 429 and asked for a pause, of which 60 s remain',
      kind: 'busy',
    });
    expect(seen).toEqual(['execution-mode 429', 'execution-mode busy']);
  });

  it('does not count a request that the circuit refused', async () => {
    const { ask, seen, circuit } = setUp(['timeout']);
    for (let count = 0; count < 5; count++) await ask();
    expect(circuit).toEqual([true]);
    const before = seen.length;
    expect(await ask()).toMatchObject({
      message: 'GET execution-mode: not asked, the server did not respond several times in a row; last: GET: failed',
      kind: 'timeout',
      details: { unsent: true },
    });
    expect(seen.length).toBe(before);
  });

  it('removes a waiting request from the queue when the circuit opens', async () => {
    const outage = Array.from({ length: 9 }, (): Reply => 'timeout');
    const { ask } = setUp([...outage, active], { requestsPerSecond: 5 });
    const asked = Array.from({ length: 40 }, () => ask());
    await vi.advanceTimersByTimeAsync(20_000);
    await Promise.all(asked);
    const last = ask();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await last).toBe('active');
  });

  it('sends one probe for any number of callers', async () => {
    const { ask, asked } = setUp(['timeout'], { tookMs: 100 });
    for (let count = 0; count < 5; count++) {
      const asking = ask();
      await vi.advanceTimersByTimeAsync(100);
      await asking;
    }
    const probes = [ask({ lane: 'vital' }), ask({ lane: 'vital' }), ask({ lane: 'vital' })];
    await vi.advanceTimersByTimeAsync(1000);
    await Promise.all(probes);
    expect(asked()).toBe(6);
  });

  it('does not count a cancelled request as an error', async () => {
    const { ask, circuit, seen } = setUp(['network'], { tookMs: 100, random: 0 });
    for (let count = 0; count < 10; count++) {
      const ending = new AbortController();
      const asking = ask({ signal: ending.signal });
      await vi.advanceTimersByTimeAsync(50);
      ending.abort();
      await vi.advanceTimersByTimeAsync(50);
      expect(await asking).toMatchObject({ kind: 'network' });
    }
    expect(circuit).toEqual([]);
    expect(seen).toEqual(Array.from({ length: 10 }, () => 'execution-mode none'));
  });

  it('ends the wait before the next attempt when the poll ends', async () => {
    const { ask, asked, budget } = setUp(['network'], { random: 1 });
    const ending = new AbortController();
    const asking = ask({ signal: ending.signal });
    await vi.advanceTimersByTimeAsync(100);
    ending.abort();
    expect(await asking).toMatchObject({ name: 'AbortError' });
    expect([asked(), budget.inFlight(), vi.getTimerCount()]).toEqual([1, 0, 0]);
    expect(getEventListeners(ending.signal, 'abort').length).toBe(0);
  });

  it('renews refused credentials once for a request', async () => {
    let renewed = 0;
    const credentials: Credentials = {
      ...plain,
      renew: async () => {
        renewed += 1;
        return true;
      },
    };
    const refused: Reply = { status: 403, body: '{"error":true,"errorCode":"unauthorized"}' };
    const { ask, asked } = setUp([refused], { credentials });
    expect(await ask()).toMatchObject({ kind: 'unauthorized' });
    expect([asked(), renewed]).toEqual([2, 1]);

    const healed = setUp([refused, active], { credentials });
    expect(await healed.ask()).toBe('active');
  });
});

/** Ends all waits immediately. */
async function inTime<Outcome>(outcome: Promise<Outcome>): Promise<Outcome> {
  await vi.runAllTimersAsync();
  return outcome;
}
