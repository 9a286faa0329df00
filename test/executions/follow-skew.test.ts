import { describe, expect, it } from 'vitest';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { createFollowSkew } from '../../src/executions/ledger/rewind.ts';
import { createMemoryLedger } from './memory-ledger.ts';

const none = { leap: undefined };

describe('executions/follow-skew', () => {
  it('keeps a forward step across a restart', async () => {
    const ledger = createMemoryLedger();
    const leap = { beginMs: 1000, endMs: 661_000 };
    const { follow } = await start(ledger);
    expect(await follow({ nowMs: 661_000, ownMs: 1000, leap })).toEqual(leap);
    const { facts } = await start(ledger);
    expect(facts()).toMatchObject({ leap, skewMs: 660_000 });
  });

  it('stores the time that a fast clock has reached, and again once it is a day later', async () => {
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

  it('keeps the stored difference while a jump is doubted', async () => {
    const { follow, facts } = await start(createMemoryLedger());
    await follow({ nowMs: 661_000, ownMs: 1000, ...none });
    await follow({ nowMs: 700_000, ownMs: 100_000_000, doubtedMs: 100_700_000, ...none });
    expect(facts().skewMs).toBe(660_000);
  });

  it('stores a step as soon as there is space, if a full disk refused it', async () => {
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

  it('forgets a step that was undone', async () => {
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
