import { describe, expect, it } from 'vitest';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { noteSlowClocks } from '../../src/executions/ledger/upkeep.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { someRunning } from './some-execution.ts';

const hourMs = 3_600_000;
const nowMs = 1000 * hourMs;

describe('executions/slow-clocks', () => {
  it('keeps a clock that is more than a day behind for eight days, even across a restart', async () => {
    const ledger = createMemoryLedger();
    const cache = await openLedgerCache(ledger, 'prod');
    await noteSlowClocks(cache, { serverTimes: [nowMs, nowMs - 24 * hourMs], nowMs });
    expect(cache.facts().slowClocks).toBeUndefined();
    for (const moreMs of [0, 15_000]) {
      await noteSlowClocks(cache, { serverTimes: [nowMs - 30 * hourMs, nowMs], nowMs: nowMs + moreMs });
    }
    const { facts } = await openLedgerCache(ledger, 'prod');
    expect(facts().slowClocks).toEqual([{ byMs: 30 * hourMs, seenAtMs: nowMs }]);
    await noteSlowClocks(cache, { nowMs: nowMs + 192 * hourMs });
    expect(cache.facts().slowClocks).toEqual([]);
  });

  it('compares an answer that is ahead of the time in use with the clock of the exporter', async () => {
    const cache = await openLedgerCache(createMemoryLedger(), 'prod');
    const ownMs = nowMs + 48 * hourMs;
    for (const serverTimes of [[nowMs + 1000], [ownMs], [ownMs - 26 * hourMs]])
      await noteSlowClocks(cache, { serverTimes, nowMs, ownMs });
    expect(cache.facts().slowClocks).toEqual([{ byMs: 26 * hourMs, seenAtMs: nowMs }]);
  });

  it('recognizes a slow clock only from a running execution with a new id and an old start', async () => {
    const cache = await openLedgerCache(createMemoryLedger(), 'prod');
    await cache.update(async () => ({
      facts: { ...cache.facts(), oneTimeIds: [73] },
      idHours: [{ hour: 999, leastId: 60, greatestId: 70 }],
    }));
    const startedAtMs = nowMs - 50 * hourMs;
    const others = [
      someRunning({ id: 50, startedAtMs }),
      someRunning({ id: 71, startedAtMs: nowMs - 20 * hourMs }),
      someRunning({ id: 72, startedAtMs, type: 'user-scheduled' }),
      someRunning({ id: 73, startedAtMs }),
      someRunning({ id: 74, startedAtMs, status: 'scheduled' }),
    ];
    await noteSlowClocks(cache, { running: others, nowMs });
    expect(cache.facts().slowClocks).toBeUndefined();
    for (const moreMs of [0, 15_000, 30_000]) {
      await noteSlowClocks(cache, { running: [someRunning({ id: 75, startedAtMs })], nowMs: nowMs + moreMs });
    }
    expect(cache.facts().slowClocks).toEqual([{ byMs: 50 * hourMs, seenAtMs: nowMs }]);
  });

  it('learns nothing from a run that it first sees hours after its start, and keeps the known clocks', async () => {
    const cache = await openLedgerCache(createMemoryLedger(), 'prod');
    await cache.update(async () => ({
      facts: { ...cache.facts(), slowClocks: [{ byMs: 50 * hourMs, seenAtMs: nowMs - hourMs }] },
      idHours: [
        { hour: 994, leastId: 60, greatestId: 74 },
        { hour: 997, leastId: 76, greatestId: 90 },
      ],
    }));
    // A run of a member that is 80 hours behind; it began five hours ago.
    const late = someRunning({ id: 75, startedAtMs: nowMs - 85 * hourMs });
    for (let round = 0; round < 12; round += 1) {
      await noteSlowClocks(cache, { running: [late], nowMs: nowMs + round * 15_000 });
    }
    expect(cache.facts().slowClocks).toEqual([{ byMs: 50 * hourMs, seenAtMs: nowMs - hourMs }]);
  });

  it('remembers a clock as long as recent runs or answers show it, and stores this once a day', async () => {
    const ledger = createMemoryLedger();
    const cache = await openLedgerCache(ledger, 'prod');
    await cache.update(async () => ({
      facts: { ...cache.facts(), slowClocks: [50, 60, 70].map((hours) => ({ byMs: hours * hourMs, seenAtMs: nowMs })) },
      idHours: [{ hour: 999, leastId: 60, greatestId: 70 }],
    }));
    const stuck = someRunning({ id: 71, startedAtMs: nowMs - 50 * hourMs });
    const seen: (readonly [number, number])[] = [];
    for (let hours = 0; hours < 20 * 24; hours += 1) {
      const atMs = nowMs + hours * hourMs;
      // It began half an hour ago, by a clock that is 60 hours behind.
      const young = someRunning({ id: 73 + 2 * hours, startedAtMs: atMs - 60.5 * hourMs });
      await cache.update(async () => ({
        idHours: [{ hour: 1000 + hours, leastId: 72 + 2 * hours, greatestId: 72 + 2 * hours }],
      }));
      await noteSlowClocks(cache, { running: [stuck, young], serverTimes: [atMs - 70 * hourMs], nowMs: atMs });
      for (const { byMs, seenAtMs } of cache.facts().slowClocks ?? [])
        if (seenAtMs === atMs && hours > 0) seen.push([byMs / hourMs, hours]);
    }
    const everyDay = Array.from({ length: 19 }, (_, day) => 24 * (day + 1));
    expect(seen).toEqual(everyDay.flatMap((hours) => [[60, hours] as const, [70, hours] as const]));
    expect(cache.facts().slowClocks?.map(({ byMs }) => byMs / hourMs)).toEqual([60, 70]);
  });
});
