import { describe, expect, it } from 'vitest';
import { openBook } from '../../src/executions/book.ts';
import { createGap } from '../../src/executions/gap.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';

async function setUp(isRestored: boolean) {
  const { ledger } = openSqliteState({ memory: true });
  const open = () => openBook(ledger, 'prod');
  const book = await open();
  const scan = (project: string, scannedThroughMs: number, hold?: 'disabled') =>
    book.update(async () => ({
      states: [{ project, countedFromMs: 0, rereadThroughMs: 0, scannedThroughMs, ...(hold && { hold }) }],
    }));
  await scan('pay', 500);
  await scan('shop', 900);
  await scan('old', 100, 'disabled');
  return { book, scan, open, gap: createGap(book, isRestored) };
}

describe('executions/gap', () => {
  it('is open after a restored copy until every project that is not held has been read that far', async () => {
    const { gap, scan } = await setUp(true);
    await gap.begin(1000);
    await scan('pay', 1000);
    await gap.end();
    expect(gap.untilMs()).toBe(1000);
    await scan('shop', 1015);
    await gap.begin(1015);
    await gap.end();
    expect(gap.untilMs()).toBeUndefined();
    await gap.begin(1030);
    expect(gap.untilMs()).toBeUndefined();
  });

  it('stays open over a restart that comes meanwhile', async () => {
    const { gap, open } = await setUp(true);
    await gap.begin(1000);
    expect(createGap(await open(), false).untilMs()).toBe(1000);
  });

  it('is never open after a usual start', async () => {
    const { gap } = await setUp(false);
    await gap.begin(1000);
    expect(gap.untilMs()).toBeUndefined();
  });
});
