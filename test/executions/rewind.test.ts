import { describe, expect, it } from 'vitest';
import { type LedgerCache, openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import type { LedgerFacts } from '../../src/executions/ledger/ledger-documents.ts';
import { type ProjectState, toNewProject } from '../../src/executions/ledger/project-state.ts';
import { isInRestoreGap } from '../../src/executions/ledger/restore-gap.ts';
import { createFollowSkew, createRewind } from '../../src/executions/ledger/rewind.ts';
import type { ServerTime } from '../../src/executions/reading/server-clock.ts';
import { createMemoryLedger } from './memory-ledger.ts';

const nowMs = 100_000_000;

describe('executions/rewind', () => {
  it('changes nothing if no stored time is in the future', async () => {
    const states = [readThrough('pay', nowMs + 30_000), readThrough('stock', nowMs - 5000)];
    const { rewound, facts, through } = await rewind({ nowMs }, states, {
      gapUntilMs: nowMs + 30_000,
      listedAtMs: nowMs,
    });
    expect(rewound).toBeUndefined();
    expect(through()).toEqual([`pay ${nowMs + 30_000}`, `stock ${nowMs - 5000}`]);
    expect(facts()).toMatchObject({ gapUntilMs: nowMs + 30_000, listedAtMs: nowMs });
  });

  it('reads again from the time to which the clock was set back', async () => {
    const states = [readThrough('pay', nowMs + 500_000), readThrough('stock', nowMs + 400_000)];
    const set = { rewindToMs: nowMs - 10_000, reachedMs: nowMs + 600_000 };
    const { rewound, facts, through } = await rewind({ nowMs, ...set }, states, { listedAtMs: nowMs });
    expect(rewound).toBe(nowMs + 600_000);
    expect(through()).toEqual([`pay ${nowMs - 10_000}`, `stock ${nowMs - 10_000}`]);
    expect(facts().listedAtMs).toBe(nowMs - 10_000);
  });

  it('keeps the time since which a project is missing', async () => {
    const heldSinceMs = nowMs - 50_000;
    const missing: ProjectState = { ...readThrough('pay', nowMs - 500_000), hold: 'missing', heldSinceMs };
    const { cache } = await rewind({ nowMs, rewindToMs: nowMs - 10_000 }, [missing]);
    expect(cache.states.get('pay')?.heldSinceMs).toBe(heldSinceMs);
  });

  it('computes from the progress how far the clock was ahead', async () => {
    const { rewound, through } = await rewind({ nowMs }, [
      readThrough('pay', nowMs + 5_000_000),
      readThrough('stock', nowMs + 7_000_000),
      readThrough('web', nowMs),
    ]);
    expect(rewound).toBe(nowMs + 7_000_000);
    expect(through()).toEqual([`pay ${nowMs - 5_000_000}`, `stock ${nowMs - 7_000_000}`, `web ${nowMs}`]);
  });

  it('does not treat a clock that stayed ahead as set back', async () => {
    const { rewound } = await rewind({ nowMs, reachedMs: nowMs + 600_000 }, [readThrough('pay', nowMs)]);
    expect(rewound).toBeUndefined();
  });

  it('notices a clock step before anything was read', async () => {
    const { rewound } = await rewind({ nowMs, rewindToMs: nowMs - 10_000, reachedMs: nowMs + 600_000 }, []);
    expect(rewound).toBe(nowMs + 600_000);
  });

  it('ends a restore gap now if its end is in the future', async () => {
    const { facts, through } = await rewind({ nowMs }, [readThrough('pay', nowMs)], { gapUntilMs: nowMs + 5_000_000 });
    expect(facts().gapUntilMs).toBe(nowMs);
    expect(through()).toEqual([`pay ${nowMs}`]);
  });

  it('keeps a restore gap before the first round', async () => {
    const unknown = Number.MAX_SAFE_INTEGER;
    const { facts } = await rewind({ nowMs }, [readThrough('pay', nowMs + 5_000_000)], { gapUntilMs: unknown });
    expect(facts().gapUntilMs).toBe(unknown);
  });

  it('rewinds later if the disk was full', async () => {
    const ledger = createMemoryLedger();
    let isFull = false;
    const commit: typeof ledger.commit = async (...change) => {
      if (isFull) throw new Error('no space left');
      return ledger.commit(...change);
    };
    const cache = await openLedgerCache({ ...ledger, commit }, 'prod');
    await cache.update(async () => ({ states: [readThrough('pay', nowMs)] }));
    const rewindTo = createRewind(cache);
    isFull = true;
    await expect(rewindTo({ ...usual, nowMs: nowMs - 660_000, rewindToMs: nowMs - 660_000 })).rejects.toThrow(
      'no space left',
    );
    await expect(rewindTo({ ...usual, rewindToMs: nowMs - 20_000 })).rejects.toThrow('no space left');
    isFull = false;
    await rewindTo(usual);
    expect(cache.states.get('pay')?.scannedThroughMs).toBe(nowMs - 660_000);
    await cache.update(async () => ({ states: [readThrough('pay', nowMs)] }));
    await rewindTo(usual);
    expect(cache.states.get('pay')?.scannedThroughMs).toBe(nowMs);
  });

  it('counts runs of a new project from before a clock step was noticed', async () => {
    const cache = await openLedgerCache(createMemoryLedger(), 'prod');
    const first = toNewProject('pay', nowMs - 100_000);
    const later = toNewProject('new', nowMs - 50_000);
    await cache.update(async () => ({ states: [first, later] }));
    await createRewind(cache)({ ...usual, nowMs: nowMs - 660_000, rewindToMs: nowMs - 680_000 });
    expect([...cache.states.values()].map(({ project, countedFromMs }) => [project, countedFromMs])).toEqual([
      ['pay', nowMs - 680_000],
      ['new', nowMs - 740_000],
    ]);
  });

  it('computes how far the server clock was set back during an absence', async () => {
    const { through, facts } = await rewind({ nowMs }, [readThrough('pay', nowMs - 5000)], {
      listedAtMs: nowMs - 10_000,
      skewMs: 600_000,
    });
    expect(through()).toEqual([`pay ${nowMs - 605_000}`]);
    expect(facts().listedAtMs).toBe(nowMs - 610_000);
  });

  it('counts a new project from before a clock step', async () => {
    const cache = await openLedgerCache(createMemoryLedger(), 'prod');
    const states = [toNewProject('pay', nowMs - 100_000), toNewProject('new', nowMs - 50_000)];
    const ahead = { ...toNewProject('ahead', nowMs - 100_000), scannedThroughMs: nowMs + 500_000 };
    await cache.update(async () => ({
      states: [...states, ahead],
      facts: { epoch: 1, epochStartedAtMs: 0, skewMs: 660_000 },
    }));
    const rewindTo = createRewind(cache);
    await rewindTo(usual);
    const counted = (): unknown =>
      [...cache.states.values()].map(({ project, countedFromMs }) => [project, countedFromMs]);
    expect(counted()).toEqual([
      ['pay', nowMs - 100_000],
      ['new', nowMs - 710_000],
      ['ahead', nowMs - 160_000],
    ]);
    // The rewind is stored, so a second rewind changes nothing.
    await cache.update(async () => ({ states }));
    await rewindTo(usual);
    expect(cache.states.get('new')?.countedFromMs).toBe(nowMs - 50_000);
  });

  it('ignores a difference of a few seconds, or of days', async () => {
    const near = await rewind({ nowMs }, [readThrough('pay', nowMs)], { skewMs: 30_000 });
    expect(near.through()).toEqual([`pay ${nowMs}`]);
    const far = await rewind({ nowMs }, [readThrough('pay', nowMs)], { skewMs: 40 * 86_400_000 });
    expect(far.through()).toEqual([`pay ${nowMs - 86_400_000}`]);
  });

  it('continues to publish read projects if a clock step moves the gap', async () => {
    const gapUntilMs = nowMs + 500_000;
    const marked = { ...readThrough('marked', nowMs - 10_000), gapReadMs: gapUntilMs };
    const states = [marked, readThrough('through', gapUntilMs), readThrough('unread', nowMs + 400_000)];
    const { cache } = await rewind({ nowMs, rewindToMs: nowMs - 20_000 }, states, { gapUntilMs });
    const shown = [...cache.states.values()].filter((state) => !isInRestoreGap(state, cache.facts()));
    expect(shown.map(({ project }) => project)).toEqual(['marked', 'through']);
    const still = await rewind({ nowMs: gapUntilMs, rewindToMs: gapUntilMs - 60_000 }, states, { gapUntilMs });
    const stillShown = [...still.cache.states.values()].filter((state) => !isInRestoreGap(state, still.facts()));
    expect(stillShown.map(({ project }) => project)).toEqual(['marked', 'through']);
  });

  it('replaces a future time of a project list by the current time', async () => {
    const { rewound, facts } = await rewind({ nowMs }, [], { listedAtMs: nowMs + 5_000_000 });
    expect(rewound).toBeUndefined();
    expect(facts().listedAtMs).toBe(nowMs);
  });
});

const usual: ServerTime & { readonly ownMs: number } = {
  nowMs,
  ownMs: nowMs,
  rewindToMs: undefined,
  reachedMs: undefined,
  wasUnseen: false,
  leap: undefined,
};

function readThrough(project: string, scannedThroughMs: number): ProjectState {
  return { ...toNewProject(project, 0), scannedThroughMs };
}

async function rewind(
  time: Partial<ServerTime>,
  states: readonly ProjectState[],
  facts: Partial<LedgerFacts> = {},
): Promise<{
  readonly rewound: number | undefined;
  readonly cache: LedgerCache;
  readonly facts: () => LedgerFacts;
  readonly through: () => readonly string[];
}> {
  const cache = await openLedgerCache(createMemoryLedger(), 'prod');
  await cache.update(async () => ({ states, facts: { epoch: 1, epochStartedAtMs: 0, ...facts } }));
  return {
    rewound: await createRewind(cache)({ ...usual, ...time }),
    cache,
    facts: cache.facts,
    through: () => [...cache.states.values()].map((state) => `${state.project} ${state.scannedThroughMs}`),
  };
}

const none = { leap: undefined };

describe('executions/follow-skew', () => {
  it('keeps a forward step of the clock across a restart', async () => {
    const ledger = createMemoryLedger();
    const leap = { beginMs: 1000, endMs: 661_000 };
    const { follow } = await start(ledger);
    expect(await follow({ nowMs: 661_000, ownMs: 1000, leap })).toEqual(leap);
    const { facts } = await start(ledger);
    expect(facts()).toMatchObject({ leap, skewMs: 660_000 });
  });

  it('stores the time that a fast clock has reached', async () => {
    const { follow, facts } = await start(createMemoryLedger());
    const dayMs = 86_400_000;
    for (const [reachedMs, kept] of [
      [undefined, undefined],
      [3 * dayMs, 3 * dayMs],
      [4 * dayMs, 3 * dayMs],
      [4 * dayMs + 1, 4 * dayMs + 1],
      [undefined, 4 * dayMs + 1],
    ]) {
      await follow({ nowMs: 1000, ownMs: 1000, leap: undefined, reachedMs });
      expect(facts().reachedMs).toBe(kept);
    }
  });

  it('keeps the stored difference while a forward step is not accepted', async () => {
    const { follow, facts } = await start(createMemoryLedger());
    await follow({ nowMs: 661_000, ownMs: 1000, ...none });
    await follow({ nowMs: 700_000, ownMs: 100_000_000, doubtedMs: 100_700_000, ...none });
    expect(facts().skewMs).toBe(660_000);
  });

  it('stores a clock step once the disk has space', async () => {
    const ledger = createMemoryLedger();
    let isFull = true;
    const commit: typeof ledger.commit = async (...change) => {
      if (isFull) throw new Error('full');
      return ledger.commit(...change);
    };
    const { follow, facts } = await start({ ...ledger, commit });
    const leap = { beginMs: 1000, endMs: 661_000 };
    await expect(follow({ nowMs: 661_000, ownMs: 1000, leap })).rejects.toThrow('full');
    isFull = false;
    expect(await follow({ nowMs: 676_000, ownMs: 16_000, ...none })).toEqual(leap);
    expect(facts()).toMatchObject({ leap, skewMs: 660_000 });
  });

  it('removes a step that was undone', async () => {
    const { follow, facts } = await start(createMemoryLedger());
    await follow({ nowMs: 661_000, ownMs: 1000, leap: { beginMs: 1000, endMs: 661_000 } });
    expect(await follow({ nowMs: 630_999, ownMs: 16_000, ...none })).toBeUndefined();
    expect(facts().leap).toBeUndefined();
  });

  it('writes nothing while the difference does not change', async () => {
    const ledger = createMemoryLedger();
    let commits = 0;
    const commit: typeof ledger.commit = async (...change) => {
      commits += 1;
      return ledger.commit(...change);
    };
    const { follow } = await start({ ...ledger, commit });
    for (const nowMs of [1000, 2000, 31_000]) await follow({ nowMs, ownMs: 1000, ...none });
    expect(commits).toBe(1);
    await follow({ nowMs: 32_000, ownMs: 1000, ...none });
    expect(commits).toBe(2);
  });
});

async function start(ledger: ReturnType<typeof createMemoryLedger>) {
  const cache = await openLedgerCache(ledger, 'prod');
  const followSkew = createFollowSkew(cache);
  return {
    facts: cache.facts,
    follow: async ({ reachedMs, ...now }: Parameters<typeof followSkew>[0] & { reachedMs?: number | undefined }) => {
      const { leap, keep } = followSkew(now);
      await keep(reachedMs);
      return leap;
    },
  };
}
