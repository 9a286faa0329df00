import { describe, expect, it } from 'vitest';
import { openBook } from '../../src/executions/book.ts';
import { createRelease } from '../../src/executions/release.ts';
import type { Cell } from '../../src/executions/totals.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';

const cell: Cell = { kind: 'runs', labels: ['pay', '', 'settle', 'failed'], count: 1, isReleased: false };

describe('executions/release', () => {
  it('shows a value once its series has been shown as 0 for long enough, and keeps that in mind', async () => {
    const { ledger } = openSqliteState({ memory: true });
    const book = await openBook(ledger, 'upstream');
    let nowTicks = 0;
    const release = createRelease(book, 60_000, () => nowTicks);
    const isReleased = (): boolean[] => [...book.totals.cells.values()].map((each) => each.isReleased);
    await book.update(async () => ({ cells: [cell] }));
    await release.due();
    nowTicks = 59_999;
    await release.due();
    expect(isReleased()).toEqual([false]);
    expect(release.isPending()).toBe(true);
    await book.update(async () => ({ cells: [{ ...cell, count: 5 }] }));
    nowTicks = 60_000;
    await release.due();
    expect([...book.totals.cells.values()]).toEqual([{ ...cell, count: 5, isReleased: true }]);
    expect(release.isPending()).toBe(false);
    const again = await openBook(ledger, 'upstream');
    expect([...again.totals.cells.values()]).toEqual([{ ...cell, count: 5, isReleased: true }]);
  });
});
