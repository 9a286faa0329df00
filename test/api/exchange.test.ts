import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Dispatch, exchange, type Limits } from '../../src/api/wire/exchange.ts';
import { fakeClock } from '../support/fake-clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Handler = Parameters<Dispatch<string>>[1];

/** Begins an exchange over a connection that the test controls, and records its calls. */
function begin(limits: Partial<Limits> = {}) {
  const told: string[] = [];
  const handlers: Handler[] = [];
  const outcome = exchange<string>((_request, given) => handlers.push(given), 'GET /', {
    limitMs: 1000,
    maxWireBytes: 100,
    largeBytes: 10,
    enter: undefined,
    signal: undefined,
    clock: fakeClock(),
    ...limits,
  }).then(
    ({ status, headers, bytes, isCut, release }) => ({ status, headers, text: bytes.toString(), isCut, release }),
    (error: unknown) => (error instanceof Error ? error.name : String(error)),
  );
  const controller = {
    abort: (reason: Error) => told.push(`abort ${reason.name}`),
    pause: () => told.push('pause'),
    resume: () => told.push('resume'),
  };
  const [handler] = handlers;
  return {
    outcome,
    told,
    isSent: handler !== undefined,
    start: () => handler?.onRequestStart(controller),
    head: (status = 200) => handler?.onResponseStart(controller, status, { 'x-a': 'b' }),
    data: (text: string) => handler?.onResponseData(controller, Buffer.from(text)),
    end: () => handler?.onResponseEnd(),
    fail: (error: Error) => handler?.onResponseError(controller, error),
  };
}

describe('api/exchange', () => {
  it('returns a response with all its chunks', async () => {
    const { signal } = new AbortController();
    const { outcome, start, head, data, end, told } = begin({ signal });
    start();
    head();
    for (const text of ['one', ' two', ' six']) data(text);
    end();
    expect(await outcome).toMatchObject({ status: 200, headers: { 'x-a': 'b' }, text: 'one two six' });
    expect([told, vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([[], 0, 0]);
  });

  it('keeps only the start of a large response if the start is enough', async () => {
    const { outcome, start, head, data, told } = begin({ maxWireBytes: 5, cutsAnswers: true });
    start();
    head();
    for (const text of ['one', ' two', ' six']) data(text);
    expect(await outcome).toMatchObject({ status: 200, text: 'one t', isCut: true });
    expect([told, vi.getTimerCount()]).toEqual([['abort ExchangeTooLarge'], 0]);
  });

  it('fails at its time limit', async () => {
    const { outcome, start, told } = begin();
    await vi.advanceTimersByTimeAsync(999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toBe('ExchangeTimeout');
    start();
    expect(told).toEqual(['abort ExchangeTimeout']);
  });

  it('drops the connection when the caller stops waiting', async () => {
    const ending = new AbortController();
    const { outcome, start, head, told } = begin({ signal: ending.signal });
    start();
    head();
    ending.abort();
    expect([await outcome, told, vi.getTimerCount()]).toEqual(['ExchangeStopped', ['abort ExchangeStopped'], 0]);
  });

  it('sends nothing for a caller that has stopped waiting', async () => {
    const { outcome, isSent } = begin({ signal: AbortSignal.abort() });
    expect([await outcome, isSent, vi.getTimerCount()]).toEqual(['ExchangeStopped', false, 0]);
  });

  it('reads a large response once a place is free', async () => {
    const room = Promise.withResolvers<() => void>();
    const left = vi.fn<() => void>();
    const { outcome, start, head, data, end, told } = begin({ enter: () => room.promise });
    start();
    head();
    data('ten bytes.');
    expect(told).toEqual([]);
    data('!');
    data('?');
    expect(told).toEqual(['pause']);
    room.resolve(left);
    await vi.advanceTimersByTimeAsync(0);
    expect(told).toEqual(['pause', 'resume']);
    end();
    const received = await outcome;
    if (typeof received === 'string') throw new Error(received);
    expect([received.text, left.mock.calls.length]).toEqual(['ten bytes.!?', 0]);
    received.release();
    expect(left.mock.calls.length).toBe(1);
  });

  it('takes no place for a large response that has already ended', async () => {
    const room = Promise.withResolvers<() => void>();
    const left = vi.fn<() => void>();
    const { outcome, start, head, data, told } = begin({ enter: () => room.promise });
    start();
    head();
    data('eleven bytes');
    await vi.advanceTimersByTimeAsync(1000);
    expect(await outcome).toBe('ExchangeTimeout');
    room.resolve(left);
    await vi.advanceTimersByTimeAsync(0);
    expect([told, left.mock.calls.length]).toEqual([['pause', 'abort ExchangeTimeout'], 1]);
  });

  it('takes no place for a large refusal after its connection closed', async () => {
    const room = Promise.withResolvers<() => void>();
    const left = vi.fn<() => void>();
    const { outcome, start, head, data, fail, told } = begin({ enter: () => room.promise });
    start();
    head(500);
    data('eleven bytes');
    fail(new Error('closed'));
    const received = await outcome;
    if (typeof received === 'string') throw new Error(received);
    received.release();
    room.resolve(left);
    await vi.advanceTimersByTimeAsync(0);
    expect([received.status, told, left.mock.calls.length]).toEqual([500, ['pause'], 1]);
  });

  it('frees the place of a too large response once, even if the connection fails too', async () => {
    const left = vi.fn<() => void>();
    const { outcome, start, head, data, fail, told } = begin({ enter: async () => left });
    start();
    head();
    data('x'.repeat(100));
    await vi.advanceTimersByTimeAsync(0);
    data('y');
    fail(new Error('aborted'));
    expect(await outcome).toBe('ExchangeTooLarge');
    expect(told).toEqual(['pause', 'resume', 'abort ExchangeTooLarge']);
    expect([left.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('frees its place if the connection fails', async () => {
    const left = vi.fn<() => void>();
    const { outcome, start, head, data, fail } = begin({ enter: async () => left });
    start();
    head();
    data('x'.repeat(50));
    await vi.advanceTimersByTimeAsync(0);
    fail(new RangeError('reset'));
    expect([await outcome, left.mock.calls.length, vi.getTimerCount()]).toEqual(['RangeError', 1, 0]);
  });
});
