import { describe, expect, it } from 'vitest';
import type { Cell } from '../../src/executions/counting/totals.ts';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { createNewSeriesHold } from '../../src/executions/series/hold-new-series.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { fakeClock } from '../support/fake-clock.ts';

const isShown = (): boolean => true;
const cell: Cell = { kind: 'runs', labels: ['pay', '', 'settle', 'failed'], count: 1, isReleased: false };

describe('executions/hold-new-series', () => {
  it('shows a value once its series has been shown as 0 for long enough, and remembers that', async () => {
    const { ledger } = openSqliteState({ memory: true });
    const cache = await openLedgerCache(ledger, 'upstream');
    let nowTicks = 0;
    const release = createNewSeriesHold(cache, 60_000, fakeClock({ ticks: () => nowTicks }));
    const isReleased = (): boolean[] => [...cache.totals.cells.values()].map((each) => each.isReleased);
    await cache.update(async () => ({ cells: [cell] }));
    await release.due(isShown);
    nowTicks = 59_999;
    await release.due(isShown);
    expect(isReleased()).toEqual([false]);
    await cache.update(async () => ({ cells: [{ ...cell, count: 5 }] }));
    nowTicks = 60_000;
    await release.due(isShown);
    expect([...cache.totals.cells.values()]).toEqual([{ ...cell, count: 5, isReleased: true }]);
    const again = await openLedgerCache(ledger, 'upstream');
    expect([...again.totals.cells.values()]).toEqual([{ ...cell, count: 5, isReleased: true }]);
  });

  it('leaves the event loop to others between parts, and accepts their changes', async () => {
    const { ledger } = openSqliteState({ memory: true });
    const cache = await openLedgerCache(ledger, 'upstream');
    let nowTicks = 0;
    const release = createNewSeriesHold(cache, 60_000, fakeClock({ ticks: () => nowTicks }));
    const cells = Array.from({ length: 2000 }, (_, node): Cell => ({ ...cell, labels: ['pay', `n${node}`] }));
    await cache.update(async () => ({ cells }));
    await release.due(isShown);
    nowTicks = 60_000;
    let turns = 0;
    setImmediate(() => {
      turns += 1;
    });
    const last: Cell = { ...cell, labels: ['pay', 'n1999'] };
    const released = release.due(isShown);
    await cache.update(async () => ({ cells: [{ ...last, count: 7 }] }));
    await released;
    expect([...cache.totals.cells.values()].filter(({ isReleased }) => !isReleased)).toEqual([]);
    expect([...cache.totals.cells.values()].at(-1)).toEqual({ ...last, count: 7, isReleased: true });
    expect(turns).toBe(1);
  });

  it('waits if a series is not shown at all, and starts again after it was not shown', async () => {
    const cache = await openLedgerCache(openSqliteState({ memory: true }).ledger, 'upstream');
    let nowTicks = 0;
    const release = createNewSeriesHold(cache, 60_000, fakeClock({ ticks: () => nowTicks }));
    await cache.update(async () => ({ cells: [cell] }));
    await release.due(() => false);
    nowTicks = 60_000;
    await release.due(isShown);
    expect([...cache.totals.cells.values()]).toEqual([cell]);
    nowTicks = 110_000;
    await release.due(() => false);
    nowTicks = 120_000;
    await release.due(isShown);
    nowTicks = 170_000;
    await release.due(isShown);
    expect([...cache.totals.cells.values()]).toEqual([cell]);
    nowTicks = 180_000;
    await release.due(isShown);
    expect([...cache.totals.cells.values()]).toEqual([{ ...cell, isReleased: true }]);
  });
});
