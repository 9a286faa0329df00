import { describe, expect, it } from 'vitest';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { createRestoreGap } from '../../src/executions/ledger/restore-gap.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';

async function setUp(isRestored: boolean) {
  const { ledger } = openSqliteState({ memory: true });
  const open = () => openLedgerCache(ledger, 'prod');
  const cache = await open();
  const scan = (project: string, scannedThroughMs: number, hold?: 'disabled') =>
    cache.update(async () => ({
      states: [{ project, countedFromMs: 0, rereadThroughMs: 0, scannedThroughMs, ...(hold && { hold }) }],
    }));
  await scan('pay', 500);
  await scan('shop', 900);
  await scan('old', 100, 'disabled');
  const gap = createRestoreGap(cache);
  await gap.open(isRestored);
  return { cache, scan, reopen: () => open(), gap, shown: () => [...gap.readStates().keys()] };
}

describe('executions/restore-gap', () => {
  it('publishes a project once it was read up to the first round after a restore', async () => {
    const { gap, scan, shown } = await setUp(true);
    expect(shown()).toEqual([]);
    await gap.begin(1000);
    expect(shown()).toEqual([]);
    await scan('pay', 1000);
    await gap.begin(1015);
    expect(shown()).toEqual(['pay']);
    await scan('shop', 1015);
    expect(shown()).toEqual(['pay', 'shop']);
  });

  it('ends when projects on hold were read too', async () => {
    const { gap, scan, shown } = await setUp(true);
    await gap.begin(1000);
    for (const project of ['pay', 'shop']) await scan(project, 1000);
    await gap.begin(1015);
    expect(gap.untilMs()).toBe(1000);
    await scan('old', 1030);
    await gap.begin(1030);
    expect(gap.untilMs()).toBeUndefined();
    expect(shown()).toEqual(['pay', 'shop', 'old']);
  });

  it('continues to publish read projects if the clock is set back while another project is still unread', async () => {
    const { cache, gap, shown } = await setUp(true);
    const rewind = (project: string, scannedThroughMs: number) =>
      cache.update(async () => {
        const state = cache.states.get(project);
        return state === undefined ? undefined : { states: [{ ...state, scannedThroughMs }] };
      });
    await gap.begin(1000);
    await rewind('pay', 1000);
    await gap.begin(1015);
    await rewind('pay', 700);
    expect(shown()).toEqual(['pay']);
  });

  it('is still open if the process restarts before its first round, or during the gap', async () => {
    const { gap, reopen } = await setUp(true);
    const beforeFirst = createRestoreGap(await reopen());
    await beforeFirst.open(false);
    expect([...beforeFirst.readStates().keys()]).toEqual([]);
    await gap.begin(1000);
    const inTheMiddle = createRestoreGap(await reopen());
    await inTheMiddle.open(false);
    expect(inTheMiddle.untilMs()).toBe(1000);
  });

  it('is never open after a normal start', async () => {
    const { gap, shown } = await setUp(false);
    await gap.begin(1000);
    expect(gap.untilMs()).toBeUndefined();
    expect(shown()).toEqual(['pay', 'shop', 'old']);
  });
});
