import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LedgerChange, LedgerEntry } from '../../src/state/ledger.ts';
import type { State } from '../../src/state/state.ts';
import { describeSpool, toTrace } from './contract-of-spool.ts';

/** An empty engine with the states of two servers; the first is `prod`. */
export type Engine = {
  readonly prod: State;
  readonly other: State;
  /** Opens the same states again. */
  readonly reopen: () => Promise<Engine>;
  readonly close: () => Promise<void>;
};

/** Tests an engine for what other rooms need. */
export function describeContract(open: () => Promise<Engine>): void {
  let engine: Engine;
  let state: State;

  beforeEach(async () => {
    engine = await open();
    state = engine.prod;
  });
  afterEach(() => engine.close());
  const stateNow = (): State => engine.prod;

  async function reopen(): Promise<void> {
    engine = await engine.reopen();
    state = engine.prod;
  }

  describe('memories', () => {
    it('keeps the stored values of each server and collector across a restart', async () => {
      const key = { server: 'prod', collector: 'execution-mode' };
      await state.remember(key, { mode: 'active' });
      await state.remember(key, { mode: 'passive', changedAtMs: 5 });
      await reopen();

      expect(await state.recall(key)).toEqual({ mode: 'passive', changedAtMs: 5 });
      expect(await state.recall({ ...key, collector: 'health' })).toBeUndefined();
      expect(await engine.other.recall({ ...key, server: 'other' })).toBeUndefined();
    });
  });

  describe('ledger', () => {
    it('finds all entries with an id on one server', async () => {
      await state.ledger.commit('prod', {
        entries: [ended('pay', 7, 50), ended('shop', 7, 90, 80), ended('pay', 8, 50)],
      });
      await engine.other.ledger.commit('other', { entries: [ended('pay', 7, 50)] });
      expect(await state.ledger.find('prod', [7, 9])).toEqual([
        { project: 'pay', id: 7, startedAtMs: 1, endedAtMs: 50 },
        { project: 'shop', id: 7, startedAtMs: 80, endedAtMs: 90 },
      ]);
      expect(await state.ledger.find('prod', [])).toEqual([]);
    });

    it('keeps ids and times that need more than 32 bits', async () => {
      const entry = { project: 'pay', id: 9_007_199_254_740_991, startedAtMs: 1.7e12, endedAtMs: 1.8e12 };
      await state.ledger.commit('prod', { entries: [entry] });
      expect(await state.ledger.find('prod', [9_007_199_254_740_991])).toEqual([entry]);
      expect(await state.ledger.firstEnd('prod', 'pay', 0)).toBe(1_800_000_000_000);
    });

    it('counts the executions that ended in a window', async () => {
      const entries = [ended('pay', 1, 99), ended('pay', 2, 100), ended('shop', 3, 200), ended('shop', 4, 201)];
      await state.ledger.commit('prod', { entries: [...entries, ended('old', 5, 150)] });
      expect(await state.ledger.countEnds('prod', { projects: ['pay', 'shop'], beginMs: 100, endMs: 200 })).toBe(2);
      expect(await state.ledger.countEnds('prod', { projects: [], beginMs: 100, endMs: 200 })).toBe(0);
    });

    it('returns the first execution that ended after a given time', async () => {
      await state.ledger.commit('prod', {
        entries: [ended('pay', 1, 100), ended('pay', 2, 300), ended('shop', 3, 200)],
      });
      expect(await state.ledger.firstEnd('prod', 'pay', 100)).toBe(100);
      expect(await state.ledger.firstEnd('prod', 'pay', 101)).toBe(300);
      expect(await state.ledger.firstEnd('prod', 'pay', 301)).toBeUndefined();
    });

    it('stores each entry once', async () => {
      expect(await state.ledger.size('prod')).toBe(0);
      await state.ledger.commit('prod', {
        entries: [ended('pay', 1, 100), ended('pay', 1, 100), ended('pay', 1, 100, 2)],
      });
      await state.ledger.commit('prod', { entries: [ended('pay', 1, 100)] });
      expect(await state.ledger.size('prod')).toBe(2);
      expect(await engine.other.ledger.size('other')).toBe(0);
      await reopen();
      expect(await state.ledger.size('prod')).toBe(2);
    });

    it('removes the old entries of one project', async () => {
      await state.ledger.commit('prod', { entries: [ended('pay', 1, 99), ended('pay', 2, 100), ended('shop', 3, 99)] });
      expect(await state.ledger.size('prod')).toBe(3);
      await state.ledger.commit('prod', { prune: { project: 'pay', endedBeforeMs: 100 } });
      expect(await state.ledger.size('prod')).toBe(2);
      expect((await state.ledger.find('prod', [1, 2, 3])).map(({ id }) => id)).toEqual([2, 3]);
    });

    it('keeps the last document under a name', async () => {
      const put = (key: string, body: string | undefined) => ({ kind: 'cell', key, body });
      await state.ledger.commit('prod', {
        documents: [put('a', '1'), put('b', '1'), put('a', '2'), put('c', '1'), put('c', undefined)],
      });
      await state.ledger.commit('prod', { documents: [put('b', undefined)] });
      await reopen();
      expect(await state.ledger.load('prod')).toEqual([{ kind: 'cell', key: 'a', body: '2' }]);
      expect(await engine.other.ledger.load('other')).toEqual([]);
    });

    it('loads only the documents of some kinds', async () => {
      const documents = ['cell', 'job', 'facts'].map((kind) => ({ kind, key: 'a', body: '1' }));
      await state.ledger.commit('prod', { documents });
      expect((await state.ledger.load('prod', ['cell', 'job'])).map(({ kind }) => kind)).toEqual(['cell', 'job']);
      expect(await state.ledger.load('prod', ['other'])).toEqual([]);
    });

    it('keeps names with any characters', async () => {
      const names = ['Zahlung für €', "O'Brien", '"quoted"', 'back\\slash', '{braces,}', 'NULL', '😀', ' ', ''];
      const documents = names.map((key) => ({ kind: 'cell', key, body: JSON.stringify([key]) }));
      const entries = names.map((project, index) => ended(project, index, 100));
      await state.ledger.commit('prod', { documents, entries });

      const loaded = await state.ledger.load('prod');
      expect(new Map(loaded.map(({ key, body }) => [key, body]))).toEqual(
        new Map(names.map((key) => [key, JSON.stringify([key])])),
      );
      expect(await state.ledger.countEnds('prod', { projects: names, beginMs: 0, endMs: 100 })).toBe(9);
      expect((await state.ledger.find('prod', [0]))[0]?.project).toBe('Zahlung für €');
    });

    // These casts are safe: the database refuses a row without the missing value.
    it.each<[string, LedgerChange]>([
      ['entries', { entries: [ended('pay', 1, 100), ended('pay', 2, Number.NaN)] }],
      ['documents', { documents: [{ kind: null as unknown as string, key: 'b', body: '1' }] }],
      ['traces', { spooled: [{ ...toTrace('1'), startedAtMs: Number.NaN }] }],
    ])('stores nothing of a change with a failing part: %s', async (_part, faulty) => {
      const entries = [ended('pay', 1, 100)];
      await expect(
        state.ledger.commit('prod', { entries, documents: [{ kind: 'cell', key: 'a', body: '1' }], ...faulty }),
      ).rejects.toThrow('the state cannot be written');
      expect(await state.ledger.size('prod')).toBe(0);
      expect(await state.ledger.find('prod', [1])).toEqual([]);
      expect(await state.ledger.load('prod')).toEqual([]);
      await state.ledger.commit('prod', { entries: [ended('pay', 1, 100)] });
      expect(await state.ledger.size('prod')).toBe(1);
    });
  });

  describeSpool(stateNow, reopen);
}

function ended(project: string, id: number, endedAtMs: number, startedAtMs = 1): LedgerEntry {
  return { project, id, startedAtMs, endedAtMs };
}
