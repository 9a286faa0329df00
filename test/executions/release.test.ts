import { expect, it } from 'vitest';
import type { Cell } from '../../src/executions/counting/totals.ts';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { release } from '../../src/executions/ledger/upkeep.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { fakeClock } from '../support/fake-clock.ts';

it('lets other changes run between its parts, and keeps their results', async () => {
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
