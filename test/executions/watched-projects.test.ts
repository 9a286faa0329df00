import { describe, expect, it } from 'vitest';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { createOverlap } from '../../src/executions/reading/overlap.ts';
import { createWatchedProjects } from '../../src/executions/reading/watched-projects.ts';
import type { Ledger } from '../../src/state/ledger.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { StateError } from '../../src/state/state.ts';
import { createFakeApi } from './fake-api.ts';
import { usual } from './scene.ts';
import { someRunning } from './some-execution.ts';

describe('executions/watched-projects', () => {
  it('reads the list once a minute', async () => {
    const { refresh, pass, asked } = await createScene(['pay']);
    await refresh();
    pass(59_999);
    await refresh();
    expect(asked).toEqual(['any time']);
    pass(1);
    await refresh();
    expect(asked).toEqual(['any time', 'any time']);
  });

  it('reads the list of projects once for each unlisted project', async () => {
    const { refresh, pass, asked, names } = await createScene(['pay']);
    await refresh();
    names.push('new');
    pass(1000);
    await refresh('new', 'ghost');
    expect(asked).toEqual(['any time', 'since 1000']);
    pass(1000);
    await refresh('new', 'ghost');
    await refresh('ghost');
    expect(asked).toHaveLength(2);
    await refresh('ghost', 'other');
    expect(asked).toHaveLength(3);
    await refresh();
    await refresh('ghost');
    expect(asked).toHaveLength(4);
  });

  it('starts counting a new project early enough after a list of a fast clock', async () => {
    const { refresh, pass, names, countedFromMs } = await createScene(['pay']);
    await refresh();
    pass(600_000);
    await refresh();
    pass(60_000);
    names.push('new');
    await refresh();
    expect([countedFromMs('pay'), countedFromMs('new')]).toEqual([0, 595_000]);
  });

  it('reads the list again immediately if the last list could not be stored', async () => {
    const { refresh, asked, names, fillDisk, countedFromMs } = await createScene(['pay']);
    await refresh();
    names.push('new');
    fillDisk(true);
    await expect(refresh('new')).rejects.toThrow('the disk is full');
    fillDisk(false);
    await refresh('new');
    expect(asked).toHaveLength(3);
    expect(countedFromMs('new')).toBeDefined();
  });

  it('does not read the list because of an excluded project', async () => {
    const { refresh, asked } = await createScene(['pay'], (project) => project !== 'secret');
    await refresh();
    await refresh('secret');
    expect(asked).toHaveLength(1);
  });

  it('puts a newly excluded project on hold immediately', async () => {
    const excluded = new Set<string>();
    const { refresh, asked, holdOf, breakList } = await createScene(['pay'], (project) => !excluded.has(project));
    await refresh();
    expect(holdOf('pay')).toBeUndefined();
    excluded.add('pay');
    breakList();
    await refresh('new').catch(() => undefined);
    expect(asked).toEqual(['any time', 'since 0']);
    expect(holdOf('pay')).toBe('excluded');
  });
});

async function createScene(names: string[], isWantedProject: (project: string) => boolean = () => true) {
  const { ledger } = openSqliteState({ memory: true });
  let isFull = false;
  const kept: Ledger = {
    ...ledger,
    commit: async (server, change) => {
      if (isFull) throw new StateError('the disk is full');
      await ledger.commit(server, change);
    },
  };
  const cache = await openLedgerCache(kept, 'upstream');
  const { api } = createFakeApi(() => undefined);
  const asked: string[] = [];
  let ticks = 0;
  let isBroken = false;
  const listing = createWatchedProjects({
    readProjects: async (_api, sinceTicks) => {
      asked.push(sinceTicks === undefined ? 'any time' : `since ${sinceTicks}`);
      if (isBroken) throw new Error('the list is broken');
      return { projects: names.map((name) => ({ name })), askedTicks: ticks };
    },
    clock: { ticks: () => ticks },
    everyMs: 15_000,
    settings: { ...usual, isWantedProject },
  });
  return {
    names,
    asked,
    countedFromMs: (project: string) => cache.states.get(project)?.countedFromMs,
    holdOf: (project: string) => cache.states.get(project)?.hold,
    breakList: () => {
      isBroken = true;
    },
    fillDisk: (full: boolean) => {
      isFull = full;
    },
    pass: (ms: number) => {
      ticks += ms;
    },
    refresh: (...running: readonly string[]) =>
      listing.refresh({
        cache,
        overlap: createOverlap(120_000),
        api: () => api,
        nowMs: ticks,
        isDoubtful: false,
        running: running.map((project, id) => someRunning({ id, project })),
      }),
  };
}
