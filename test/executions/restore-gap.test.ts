import { rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import type { ProjectState } from '../../src/executions/ledger/project-state.ts';
import { createRestoreGap } from '../../src/executions/ledger/restore-gap.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { makeMemoryFolder } from '../support/memory-folder.ts';

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

type Hours = { scanned: number; counted?: number; pruned?: number; earlier?: readonly number[] };

describe('executions/restore-gap', () => {
  it('publishes a project after a restore once the project was read', async () => {
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

  it('ends when all projects have been read', async () => {
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

  it('still publishes projects that were read, if the clock is set back', async () => {
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

  it('stays open over restarts', async () => {
    const { gap, reopen } = await setUp(true);
    const beforeFirst = createRestoreGap(await reopen());
    await beforeFirst.open(false);
    expect([...beforeFirst.readStates().keys()]).toEqual([]);
    await gap.begin(1000);
    const inTheMiddle = createRestoreGap(await reopen());
    await inTheMiddle.open(false);
    expect(inTheMiddle.untilMs()).toBe(1000);
  });

  it('opens once if the process restarts before its first round after a restore', async () => {
    const dir = makeMemoryFolder('automation-exporter-gap-');
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const live = async (work: (state: ReturnType<typeof openSqliteState>) => Promise<unknown>) => {
      const state = openSqliteState({ dir });
      const done = await work(state);
      await state.close();
      return { kind: state.origin.kind, done };
    };
    const open = async ({ ledger }: ReturnType<typeof openSqliteState>) => {
      const gap = createRestoreGap(await openLedgerCache(ledger, 'prod'));
      await gap.open(false);
      return gap.untilMs();
    };
    await live(async (state) => {
      const cache = await openLedgerCache(state.ledger, 'prod');
      await cache.update(async () => ({
        states: [{ project: 'pay', countedFromMs: 0, rereadThroughMs: 0, scannedThroughMs: 500 }],
      }));
      await state.backUp();
    });
    truncateSync(join(dir, 'state.sqlite'), 0);
    // The process reads no executions while the server does not respond.
    expect(await live(({ remember }) => remember({ server: 'prod', collector: 'system' }, {}))).toMatchObject({
      kind: 'restored',
    });
    expect(await live(open)).toEqual({ kind: 'usual', done: Number.MAX_SAFE_INTEGER });
    await live(async ({ ledger }) => {
      const gap = createRestoreGap(await openLedgerCache(ledger, 'prod'));
      await gap.begin(1000);
    });
    expect(await live(open)).toEqual({ kind: 'usual', done: 1000 });
  });

  // All times are in hours. If ids are known, the greatest is 9.
  it.each([
    ['the last 23 hours', { scanned: 30 }, false, { scanned: 7 }],
    ['no removed ids', { scanned: 30, pruned: 10 }, false, { scanned: 10, pruned: 10 }],
    ['no removed ids, if all were removed', { scanned: 30, pruned: 40 }, false, { scanned: 30, pruned: 40 }],
    ['nothing before the start of counting', { scanned: 30, counted: 20 }, false, { scanned: 20, counted: 20 }],
    ['only new ids before it', { scanned: 30, counted: 20 }, true, { scanned: 7, counted: 7, earlier: [20, 9] }],
    ['as before', { scanned: 30, counted: 20, earlier: [25, 3] }, true, { scanned: 7, counted: 7, earlier: [25, 3] }],
    ['from the start of counting on', { scanned: 30, counted: 7 }, true, { scanned: 7, counted: 7 }],
  ])('reads again after a restore %s', async (...[, before, hasIds, after]) => {
    const { cache, gap } = await setUp(false);
    const hourMs = 3_600_000;
    const toState = ({ scanned, counted = 0, pruned, earlier }: Hours): ProjectState => ({
      project: 'pay',
      countedFromMs: counted * hourMs,
      rereadThroughMs: 0,
      scannedThroughMs: scanned * hourMs,
      ...(pruned === undefined ? {} : { prunedThroughMs: pruned * hourMs }),
      ...(earlier === undefined
        ? {}
        : { earlier: { untilMs: (earlier[0] ?? 0) * hourMs, throughId: earlier[1] ?? 0 } }),
    });
    const idHours = hasIds ? [{ hour: 1, greatestId: 9 }] : [];
    const states = [{ ...toState(before), aheadThroughMs: 5, backlog: [] }];
    await cache.update(async () => ({ states, idHours }));
    await gap.open(true);
    expect(cache.states.get('pay')).toEqual(toState(after));
  });

  it('opens no restore gap after a normal start', async () => {
    const { gap, shown } = await setUp(false);
    await gap.begin(1000);
    expect(gap.untilMs()).toBeUndefined();
    expect(shown()).toEqual(['pay', 'shop', 'old']);
  });
});
