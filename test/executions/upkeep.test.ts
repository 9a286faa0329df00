import { describe, expect, it } from 'vitest';
import type { Cell } from '../../src/executions/counting/totals.ts';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { toNewProject } from '../../src/executions/ledger/project-state.ts';
import {
  beginNatives,
  createForgetMissing,
  noteSlowClocks,
  planPrune,
  rebucket,
  release,
} from '../../src/executions/ledger/upkeep.ts';
import { createActivities } from '../../src/executions/reading/activities.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { hourMs } from '../support/durations.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { someRunning } from './some-execution.ts';

describe('executions/forget-missing', () => {
  it.each([
    ['missing', 0, 30],
    ['missing', 1, 30 - 1 / 86_400_000],
    ['disabled', 1, 31],
  ] as const)('after some days of a project that is %s, keeps its state: %i', async (hold, left, days) => {
    const ledger = createMemoryLedger();
    const cache = await openLedgerCache(ledger, 'prod');
    await cache.update(async () => ({ states: [{ ...toNewProject('pay', 0), hold, heldSinceMs: 0 }] }));
    await createForgetMissing({ server: 'prod', cache, ledger, activities: createActivities() })(days * 24 * hourMs);
    expect(cache.states.size).toBe(left);
  });
});

describe('executions/prune', () => {
  it.each([
    ['nothing for less than a minute', 59_999, 0, 0],
    ['all of a minute', 60_000, 0, 60_000],
    ['all of it where it is little', 120_000, 0, 120_000],
    ['an hour at most', 5 * hourMs, 0.0001, 3_600_000],
    ['no more than two thousand entries', 5 * hourMs, 40_000 / hourMs, 112_500],
    ['more than that if it ended within a millisecond', 5 * hourMs, 3000, 1],
  ])('prunes %s', async (_name, throughMs, entriesPerMs, prunedThroughMs) => {
    const countEnds = async (_server: string, { beginMs, endMs }: { beginMs: number; endMs: number }) =>
      Math.floor((endMs - beginMs + 1) * entriesPerMs);
    for (const fromMs of [0, 7000]) {
      const plan = planPrune({ countEnds }, 'upstream', { project: 'pay', fromMs }, fromMs + throughMs);
      expect((await plan) - fromMs).toBe(prunedThroughMs);
    }
  });
});

const facts = { epoch: 1, epochStartedAtMs: 0 };
const labels = ['pay', 'nightly', 'settle', 'succeeded'];
const durations: Cell = { kind: 'durations', labels, count: 7, sumSeconds: 70, buckets: [1, 4, 2], isReleased: true };
const runs: Cell = { kind: 'runs', labels, count: 7, isReleased: true };

describe('executions/rebucket', () => {
  it('changes nothing if the bounds are the same', () => {
    expect(rebucket([durations, runs], { ...facts, buckets: [1, 10] }, [1, 10])).toBeUndefined();
  });

  it('keeps counts and sums if the bounds change', () => {
    expect(rebucket([durations, runs], { ...facts, buckets: [1, 10] }, [5, 60, 600])).toEqual({
      facts: { ...facts, buckets: [5, 60, 600] },
      cells: [{ ...durations, buckets: [0, 0, 0, 7] }],
    });
  });

  it('notices that a bound has changed', () => {
    expect(rebucket([durations], { ...facts, buckets: [1, 10] }, [1, 20])?.cells).toEqual([
      { ...durations, buckets: [0, 0, 7] },
    ]);
  });

  it('changes the bounds of the earlier counts of a cell too', () => {
    const before = { counts: [1, 2, 3], count: 6 } as unknown as NonNullable<Cell['before']>;
    const change = rebucket([{ ...durations, before }], { ...facts, buckets: [1, 10] }, [1]);
    expect(change?.cells?.map((cell) => cell.before)).toEqual([{ counts: [0, 6], count: 6 }]);
  });

  it('begins native histograms once', () => {
    const change = { facts: { ...facts, buckets: [1] } };
    expect(beginNatives(change, { ...facts, nativeSeconds: 5 }, 9999)).toBe(change);
    expect(beginNatives(change, facts, 9999)).toEqual({ facts: { ...facts, buckets: [1], nativeSeconds: 9 } });
    expect(beginNatives(undefined, facts, 9999)).toEqual({ facts: { ...facts, nativeSeconds: 9 } });
  });

  it('stores the bounds of counts from an earlier release', () => {
    expect(rebucket([durations], facts, [1, 10])).toEqual({ facts: { ...facts, buckets: [1, 10] }, cells: [] });
    expect(rebucket([durations], facts, [1])?.cells).toEqual([{ ...durations, buckets: [0, 7] }]);
  });
});

it('allows other changes between its steps', async () => {
  const { ledger } = openSqliteState({ memory: true });
  const cache = await openLedgerCache(ledger, 'upstream');
  const cells = Array.from(
    { length: 2000 },
    (_, node): Cell => ({ kind: 'runs', labels: ['pay', `n${node}`], count: 1, isReleased: false }),
  );
  await cache.update(async () => ({ cells }));
  let turns = 0;
  setImmediate(() => {
    turns += 1;
  });
  const last: Cell = { kind: 'runs', labels: ['pay', 'n1999'], count: 1, isReleased: false };
  const released = release(cache, [...cache.totals.cells.keys(), 'gone'], fakeClock());
  await cache.update(async () => ({ cells: [{ ...last, count: 7 }] }));
  await released;
  const again = await openLedgerCache(ledger, 'upstream');
  for (const { totals } of [cache, again]) {
    expect([...totals.cells.values()].filter(({ isReleased }) => !isReleased)).toEqual([]);
    expect([...totals.cells.values()]).toContainEqual({ ...last, count: 7, isReleased: true });
  }
  expect(turns).toBe(1);
});

const nowMs = 1000 * hourMs;

describe('executions/slow-clocks', () => {
  it('remembers a slow clock for eight days', async () => {
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

  const dayMs = 24 * hourMs;
  const clock = (byMs: number, agoMs: number) => ({ byMs, seenAtMs: nowMs - agoMs });
  const ten = Array.from({ length: 10 }, (_, index) => clock((30 + index) * hourMs, 1));
  it.each([
    ['a day behind', [], dayMs, []],
    ['more behind', [], dayMs + 1, [clock(dayMs + 1, 0)]],
    ['10 min behind a known clock', [clock(30 * hourMs, 1)], 30 * hourMs + 600_000, [clock(30 * hourMs, 1)]],
    ['10 min ahead of a known clock', [clock(30 * hourMs, 1)], 30 * hourMs - 600_000, [clock(30 * hourMs, 1)]],
    [
      'behind a known clock',
      [clock(30 * hourMs, 1)],
      30 * hourMs + 600_001,
      [clock(30 * hourMs, 1), clock(30 * hourMs + 600_001, 0)],
    ],
    ['seen a day ago', [clock(30 * hourMs, dayMs)], 30 * hourMs, [clock(30 * hourMs, 0)]],
    ['seen lately', [clock(30 * hourMs, dayMs - 1)], 30 * hourMs, [clock(30 * hourMs, dayMs - 1)]],
    ['not seen now', [clock(30 * hourMs, 8 * dayMs - 1)], 0, [clock(30 * hourMs, 8 * dayMs - 1)]],
    ['not seen for eight days', [clock(30 * hourMs, 8 * dayMs)], 0, []],
    ['seen in the future', [clock(30 * hourMs, -8 * dayMs)], 0, []],
    ['behind ten others', ten, 50 * hourMs, [...ten.slice(1), clock(50 * hourMs, 0)]],
    ['an hour ahead', [], -hourMs, []],
    // The response is compared with the clock of the exporter, which is 48 h ahead.
    ['further ahead', [], -hourMs - 1, [clock(47 * hourMs - 1, 0)]],
  ])('remembers a clock that is %s', async (_what, before, behindMs, after) => {
    const cache = await openLedgerCache(createMemoryLedger(), 'prod');
    await cache.update(async () => ({ facts: { ...cache.facts(), slowClocks: before } }));
    await noteSlowClocks(cache, { serverTimes: [nowMs - behindMs], nowMs, ownMs: nowMs + 48 * hourMs });
    expect(cache.facts().slowClocks).toEqual(after);
  });

  it('recognizes a slow clock by a new id with an old start', async () => {
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

  it('does not measure a slow clock by a run that was first seen late', async () => {
    const cache = await openLedgerCache(createMemoryLedger(), 'prod');
    await cache.update(async () => ({
      facts: { ...cache.facts(), slowClocks: [{ byMs: 50 * hourMs, seenAtMs: nowMs - hourMs }] },
      idHours: [
        { hour: 994, leastId: 60, greatestId: 74 },
        { hour: 997, leastId: 76, greatestId: 90 },
      ],
    }));
    // The run began five hours ago, by a clock 80 hours behind.
    const late = someRunning({ id: 75, startedAtMs: nowMs - 85 * hourMs });
    for (let round = 0; round < 12; round += 1) {
      await noteSlowClocks(cache, { running: [late], nowMs: nowMs + round * 15_000 });
    }
    expect(cache.facts().slowClocks).toEqual([{ byMs: 50 * hourMs, seenAtMs: nowMs - hourMs }]);
  });

  it('remembers a slow clock as long as runs or responses show the clock', async () => {
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
      // The run began half an hour ago, by a clock 60 hours behind.
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
