import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Budget,
  BudgetTimeout,
  createBudget,
  createBudgetMemory,
  type Lane,
  lanes,
} from '../../src/api/budget.ts';
import { systemClock } from '../../src/domain/system-clock.ts';
import { fc } from '../support/property.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const clock = systemClock;

function create(requestsPerSecond: number, concurrency: number): Budget {
  return createBudget({ requestsPerSecond, concurrency, clock });
}

/** Requests a place, and records when the place was given. The place is returned after the given time, or never. */
function ask(budget: Budget, lane: Lane, { holdMs = 0, waitMs = 1_000_000, note = (_lane: Lane): void => {} } = {}) {
  const limit = { deadlineTicks: clock.ticks() + waitMs, signal: undefined };
  return budget.enter(lane, limit).then((leave) => {
    note(lane);
    if (Number.isFinite(holdMs)) setTimeout(leave, holdMs);
    return leave;
  });
}

describe('api/budget', () => {
  it('starts no more requests in a second than configured', async () => {
    const budget = create(3, 10);
    const startedTicks = clock.ticks();
    const startsMs: number[] = [];
    for (let count = 0; count < 7; count++) {
      void ask(budget, 'vital', { note: () => startsMs.push(clock.ticks() - startedTicks) });
    }
    await vi.advanceTimersByTimeAsync(5000);
    expect(startsMs).toEqual([0, 0, 0, 1000, 1000, 1000, 2000]);
  });

  it('continues with the previous budget of the server', async () => {
    const memory = createBudgetMemory();
    const startedTicks = clock.ticks();
    const startsMs: number[] = [];
    const note = () => void startsMs.push(clock.ticks() - startedTicks);
    const before = createBudget({ requestsPerSecond: 3, concurrency: 10, clock, memory });
    // As in a reload, the new budget begins before the end of the old one.
    const after = createBudget({ requestsPerSecond: 2, concurrency: 10, clock, memory });
    for (let count = 0; count < 2; count++) void ask(before, 'vital', { note });
    await vi.advanceTimersByTimeAsync(100);
    for (let count = 0; count < 3; count++) void ask(after, 'vital', { note });
    await vi.advanceTimersByTimeAsync(5000);
    expect(startsMs).toEqual([0, 0, 1000, 1000, 2000]);
  });

  it('continues a pause of the previous budget', () => {
    const memory = createBudgetMemory();
    createBudget({ requestsPerSecond: 3, concurrency: 10, clock, memory }).pause(30_000);
    const after = createBudget({ requestsPerSecond: 3, concurrency: 10, clock, memory });
    expect(after.pausedMs()).toBe(30_000);
  });

  it('spaces requests out at a rate below one request a second', async () => {
    const budget = create(0.5, 4);
    const startedTicks = clock.ticks();
    const startsMs: number[] = [];
    for (let count = 0; count < 3; count++) {
      void ask(budget, 'normal', { note: () => startsMs.push(clock.ticks() - startedTicks) });
    }
    await vi.advanceTimersByTimeAsync(5000);
    expect(startsMs).toEqual([0, 2000, 4000]);
  });

  it('has at most the configured number of requests in progress', async () => {
    const budget = create(1000, 2);
    const leaves = await Promise.all([
      ask(budget, 'vital', { holdMs: Infinity }),
      ask(budget, 'vital', { holdMs: Infinity }),
    ]);
    let isIn = false;
    void ask(budget, 'vital', { note: () => (isIn = true) });
    await vi.advanceTimersByTimeAsync(10_000);
    expect([isIn, budget.inFlight()]).toEqual([false, 2]);

    leaves[0]?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(isIn).toBe(true);
  });

  it('frees a place only once if a request gives it back twice', async () => {
    const budget = create(1000, 2);
    const leave = await ask(budget, 'vital', { holdMs: Infinity });
    leave();
    leave();
    expect(budget.inFlight()).toBe(0);
  });

  it.each([
    ['rate', { concurrency: 100, holdMs: 0 }],
    ['number', { concurrency: 4, holdMs: 2500 }],
  ])(
    'lets vital requests pass a sweep that uses the maximum %s of requests',
    async (_what, { concurrency, holdMs }) => {
      const budget = create(10, concurrency);
      for (let count = 0; count < 1000; count++) void ask(budget, 'normal', { holdMs });
      for (let count = 0; count < 1000; count++) void ask(budget, 'enrichment', { holdMs });
      const waitsMs: number[] = [];
      for (let second = 0; second < 20; second++) {
        await vi.advanceTimersByTimeAsync(1037);
        const askedTicks = clock.ticks();
        void ask(budget, 'vital', { note: () => waitsMs.push(clock.ticks() - askedTicks) });
        await vi.advanceTimersByTimeAsync(0);
      }
      expect(waitsMs).toEqual(Array.from({ length: 20 }, () => 0));
    },
  );

  it('gives enrichment exactly a third of the requests while a sweep is in progress', async () => {
    const budget = create(9, 9);
    const started: Record<Lane, number> = { vital: 0, normal: 0, enrichment: 0 };
    const note = (lane: Lane): void => void (started[lane] += 1);
    for (let count = 0; count < 100; count++) void ask(budget, 'normal', { note });
    for (let count = 0; count < 100; count++) void ask(budget, 'enrichment', { note });
    await vi.advanceTimersByTimeAsync(0);
    // In the first second, requests are sent in the order of their arrival; later each lane has its share.
    const first = { ...started };
    await vi.advanceTimersByTimeAsync(9_999);
    expect(started.enrichment - first.enrichment).toBe(27);
    expect(started.normal - first.normal).toBe(45);
  });

  it.each([0.5, 1, 2, 2.9])('gives enrichment a third of %d requests per second', async (rate) => {
    const budget = create(rate, 4);
    const started: Lane[] = [];
    const note = (lane: Lane): void => void started.push(lane);
    for (let count = 0; count < 100; count++) void ask(budget, 'enrichment', { note });
    for (let count = 0; count < 100; count++) void ask(budget, 'normal', { note });
    await vi.advanceTimersByTimeAsync(100_000);
    expect(started.slice(0, 30).filter((lane) => lane === 'enrichment').length).toBe(10);
  });

  it('limits enrichment to a third of the request rate even without other requests', async () => {
    const budget = create(9, 9);
    let started = 0;
    for (let count = 0; count < 100; count++) void ask(budget, 'enrichment', { note: () => (started += 1) });
    await vi.advanceTimersByTimeAsync(9_999);
    expect(started).toBe(30);
  });

  it('admits no request during a pause that the server requested', async () => {
    const budget = create(10, 4);
    budget.pause(30_000, 429);
    budget.pause(10_000, 503);
    expect(budget.pausedBy()).toBe(429);
    const startedTicks = clock.ticks();
    const startsMs: number[] = [];
    for (const lane of lanes) void ask(budget, lane, { note: () => startsMs.push(clock.ticks() - startedTicks) });
    expect(budget.pausedMs()).toBe(30_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(startsMs).toEqual([30_000, 30_000, 30_000]);
    expect(budget.pausedMs()).toBe(0);
  });

  it('leaves nothing in the queue after a deadline', async () => {
    const budget = create(1000, 1);
    const leave = await ask(budget, 'vital', { holdMs: Infinity });
    const ending = new AbortController();
    const removed = vi.spyOn(ending.signal, 'removeEventListener');
    const turn = budget.enter('vital', { deadlineTicks: clock.ticks() + 500, signal: ending.signal });
    const refused = turn.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(500);
    expect(await refused).toBeInstanceOf(BudgetTimeout);
    expect(removed).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(vi.getTimerCount()).toBe(0);

    leave();
    expect(budget.inFlight()).toBe(0);
  });

  it.each([true, false])('forgets a cancelled caller (cancelled before the call: %s)', async (isBefore) => {
    const budget = create(1000, 1);
    const leave = await ask(budget, 'vital', { holdMs: Infinity });
    const ending = new AbortController();
    if (isBefore) ending.abort();
    const turn = budget.enter('vital', { deadlineTicks: clock.ticks() + 60_000, signal: ending.signal });
    const refused = turn.catch((error: unknown) => error);
    ending.abort();
    expect(await refused).toBeInstanceOf(BudgetTimeout);
    await vi.advanceTimersByTimeAsync(1);
    expect(vi.getTimerCount()).toBe(0);
    leave();
    expect(budget.inFlight()).toBe(0);
  });

  it('keeps its limits in any order of events', async () => {
    const arrival = fc.record({
      atMs: fc.integer({ min: 0, max: 5000 }),
      lane: fc.constantFrom(...lanes),
      holdMs: fc.integer({ min: 0, max: 3000 }),
    });
    const rate = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.double({ min: 0.5, max: 20, noNaN: true }));
    const property = fc.asyncProperty(
      fc.array(arrival, { minLength: 1, maxLength: 40 }),
      rate,
      fc.integer({ min: 1, max: 6 }),
      async (arrivals, requestsPerSecond, concurrency) => {
        const budget = create(requestsPerSecond, concurrency);
        const startsTicks: number[] = [];
        let most = 0;
        for (const { atMs, lane, holdMs } of arrivals) {
          const note = (): void => {
            startsTicks.push(clock.ticks());
            most = Math.max(most, budget.inFlight());
          };
          setTimeout(() => void ask(budget, lane, { holdMs, note }), atMs);
        }
        await vi.advanceTimersByTimeAsync(400_000);

        expect(startsTicks.length).toBe(arrivals.length);
        expect(most).toBeLessThanOrEqual(concurrency);
        const starts = Math.max(1, Math.floor(requestsPerSecond));
        const windowMs = (starts / requestsPerSecond) * 1000;
        const gapsMs = startsTicks.slice(starts).map((later, place) => later - (startsTicks[place] ?? 0));
        expect(Math.min(windowMs, ...gapsMs)).toBeGreaterThanOrEqual(windowMs - 0.001);
        expect([budget.inFlight(), vi.getTimerCount()]).toEqual([0, 0]);
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});
