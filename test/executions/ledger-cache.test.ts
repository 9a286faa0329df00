import { describe, expect, it } from 'vitest';
import { type Measured, measure } from '../../src/executions/counting/measure.ts';
import { toJobKey } from '../../src/executions/counting/totals.ts';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import type { RecentRun } from '../../src/executions/ledger/recent-runs.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { someRun } from './some-execution.ts';

describe('executions/ledger-cache', () => {
  it('shows the last runs after several changes', async () => {
    const ledger = createMemoryLedger();
    const cache = await openLedgerCache(ledger, 'prod');
    for (const id of [1, 2, 3]) await cache.update(async () => ({ recent: [recent(id)] }));
    expect(cache.recent().map(({ id }) => id)).toEqual([3, 2, 1]);
    // Earlier releases stored times outside the range of dates.
    const odd = [{ startedAtMs: 9e15 }, { endedAtMs: 9e15 }].map((times, index) => ({
      ...recent(index + 4),
      ...times,
    }));
    await cache.update(async () => ({ recent: odd }));
    const next = await openLedgerCache(ledger, 'prod');
    expect(next.recent().map(({ id }) => id)).toEqual([3, 2, 1]);
  });

  it('reads earlier epochs from the state of an earlier release', async () => {
    const ledger = createMemoryLedger();
    const cache = await openLedgerCache(ledger, 'prod');
    await cache.update(async () => ({ facts: { epoch: 2, epochStartedAtMs: 5000 } }));
    expect((await openLedgerCache(ledger, 'prod')).facts()).toMatchObject({ epoch: 2, formerThroughMs: 4999 });
  });

  it('removes a job whose name looks like the end of a key', async () => {
    const ledger = createMemoryLedger();
    const cache = await openLedgerCache(ledger, 'prod');
    const job = { id: 'a-1', name: 'succeeded', group: 'user', averageDurationMs: undefined };
    await cache.update(async () =>
      toChange(measure(cache.totals, 'pay', [someRun({ job })], { buckets: [], seenAtMs: 1_000_000, startMs: 0 })),
    );
    await cache.update(async () => ({ forgetJobs: [toJobKey('pay', 'user', 'succeeded')] }));
    expect(cache.factsOf('pay', 'user', 'succeeded', 'a-1')).toBeUndefined();
    const { totals } = await openLedgerCache(ledger, 'prod');
    for (const { cells } of [cache.totals, totals]) {
      const counted = [...cells.values()].filter(({ count }) => count > 0);
      expect(counted.map(({ kind, labels }) => `${kind} ${labels.join('|')}`)).toEqual([
        'project-runs pay|user|succeeded',
      ]);
    }
  });
});

function recent(id: number): RecentRun {
  const names = { project: 'pay', group: '', name: 'settle' };
  return { id, ...names, ending: 'succeeded', startedAtMs: id * 1000, endedAtMs: id * 1000 + 500 };
}

function toChange({ cells, jobs, claims }: Measured) {
  return { cells: [...cells.values()], jobs: [...jobs.values()], claims };
}
