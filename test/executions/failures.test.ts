import { describe, expect, it } from 'vitest';
import { measure } from '../../src/executions/counting/measure.ts';
import { createFailures, type Noted } from '../../src/executions/ledger/failures.ts';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { someRun } from './some-execution.ts';

const run = someRun({ status: 'failed' });

async function setScene() {
  const ledger = createMemoryLedger();
  const open = async () => {
    const failures = createFailures();
    const cache = await openLedgerCache(ledger, 'prod', { failures });
    cache.totals.slots.settle(cache.totals.slots.claim());
    const totals = () =>
      [...cache.totals.cells.values()].map(({ kind, labels, count }) => `${kind} ${labels.join('/')} ${count}`);
    const facts = {
      set: (last: ReturnType<typeof someRun>) =>
        cache.update(async () => {
          const measured = measure(cache.totals, 'pay', [last], { buckets: [], seenAtMs: last.endedAtMs, startMs: 0 });
          return { jobs: [...measured.jobs.values()], claims: measured.claims };
        }),
      lastFailure: () => [...cache.totals.jobs.values()][0]?.lastFailure,
    };
    const held = () => [...cache.totals.cells.values()].filter(({ isReleased }) => !isReleased).length;
    return { failures, totals, held, facts, count: () => failures.count(cache, 0) };
  };
  const commit = async ({ documents, done }: Noted) => {
    await ledger.commit('prod', { documents });
    done();
  };
  return { ledger, open, commit };
}

describe('executions/failures', () => {
  it('counts a failure once by its class, in the next round', async () => {
    const { ledger, open, commit } = await setScene();
    const { failures, totals, count } = await open();
    await commit(failures.expect('pay', run));
    await count();
    await commit(failures.settle(run, 'target'));
    expect(totals()).toEqual([]);
    await count();
    await count();
    expect(totals()).toEqual(['failures pay//__other__/target 1']);
    expect((await ledger.load('prod')).filter(({ kind }) => kind === 'failure')).toEqual([]);
  });

  it('counts each of many failures once', async () => {
    const { open, commit } = await setScene();
    const { failures, totals, count } = await open();
    for (let id = 1; id <= 501; id += 1) await commit(failures.expect('pay', { ...run, id }, 'work'));
    await count();
    expect(totals()).toEqual(['failures pay//__other__/work 501']);
  });

  it('does not count a failure again after a restore', async () => {
    const { open, commit } = await setScene();
    const before = await open();
    await commit(before.failures.expect('pay', run));
    await commit(before.failures.settle(run, 'work'));
    const { totals, count } = await open();
    await count();
    expect(totals()).toEqual(['failures pay//__other__/work 1']);
    const { totals: totalsLater, count: countLater } = await open();
    await countLater();
    expect(totalsLater()).toEqual(totals());
  });

  it('counts failures later if their transaction failed', async () => {
    const { ledger, open, commit } = await setScene();
    const { failures, totals, count } = await open();
    await commit(failures.expect('pay', run, 'work'));
    const { commit: store } = ledger;
    Object.assign(ledger, { commit: () => Promise.reject(new Error('disk full')) });
    await expect(count()).rejects.toThrow('disk full');
    expect(totals()).toEqual([]);
    Object.assign(ledger, { commit: store });
    await count();
    expect(totals()).toEqual(['failures pay//__other__/work 1']);
  });

  it('does not count a failure again if another ledger has counted it', async () => {
    const { ledger, open, commit } = await setScene();
    const { failures, totals, count } = await open();
    await commit(failures.expect('pay', run));
    const { documents, done } = failures.settle(run, 'work');
    await ledger.commit('prod', { documents });
    failures.load(await ledger.load('prod'));
    await count();
    done();
    await count();
    expect(totals()).toEqual(['failures pay//__other__/work 1']);
  });

  it('counts ad hoc runs and jobs with a slot separately', async () => {
    const { open, commit } = await setScene();
    const { failures, totals, count } = await open();
    await commit(failures.expect('pay', someRun({ id: 2, status: 'failed', job: undefined }), 'work'));
    await count();
    expect(totals()).toEqual(['failures pay///work 1']);
  });

  it('lists projects with pending failures after a restore', async () => {
    const { open, commit } = await setScene();
    const copied = await open();
    await commit(copied.failures.expect('pay', run));
    expect(copied.failures.behind()).toEqual(new Set());
    const { failures, count } = await open();
    failures.markRestored();
    await commit(failures.settle(run, 'work'));
    expect(failures.behind()).toEqual(new Set(['pay']));
    await count();
    expect(failures.behind()).toEqual(new Set());
  });

  it.each([
    ['in the same round', false],
    ['in an earlier round', true],
  ])('publishes a restored total immediately if a failure was counted %s', async (_when, isEarlier) => {
    const { open, commit } = await setScene();
    const { failures, held, totals, count } = await open();
    let isInGap = true;
    failures.follow(() => isInGap);
    if (isEarlier) await commit(failures.expect('pay', run));
    isInGap = false;
    await commit(failures.expect('pay', someRun({ id: 2, status: 'failed' }), 'work'));
    if (isEarlier) await count();
    isInGap = true;
    await commit(isEarlier ? failures.settle(run, 'work') : failures.expect('pay', run, 'work'));
    await count();
    expect(totals()).toEqual(['failures pay//__other__/work 2']);
    expect(held()).toBe(0);
  });

  it('lists a project with pending failures after a restart', async () => {
    const { ledger, open, commit } = await setScene();
    const { failures } = await open();
    failures.follow(() => true);
    await commit(failures.expect('pay', run));
    const early = createFailures();
    early.loadFirst(await ledger.load('prod'));
    await commit(early.settle(run, 'work'));
    expect((await open()).failures.behind()).toEqual(new Set(['pay']));
  });

  it('keeps the class of the last failure when an older one becomes known', async () => {
    const { open, commit } = await setScene();
    const { failures, facts, count } = await open();
    const [older, newest] = [someRun({ id: 3, status: 'failed' }), someRun({ id: 4, status: 'failed' })];
    await facts.set(newest);
    const lines = { fingerprint: 'v1:0', isNew: true };
    const countOne = async (one: typeof newest) => {
      await commit(failures.expect('pay', one));
      await commit(failures.settle(one, 'access', lines));
      await count();
    };
    await countOne(newest);
    expect(facts.lastFailure()).toEqual({ id: 4, failureClass: 'access', lines });
    await countOne(older);
    expect(facts.lastFailure()?.lines?.isNew).toBe(false);
  });
});
