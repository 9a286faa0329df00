import { beforeEach, describe, expect, it } from 'vitest';
import type { Ledger, LedgerEntry } from '../../src/state/ledger.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';

let ledger: Ledger;

beforeEach(() => {
  ({ ledger } = openSqliteState({ memory: true }));
});

function ended(project: string, id: number, endedAtMs: number, startedAtMs = 1): LedgerEntry {
  return { project, id, startedAtMs, endedAtMs };
}

describe('state/sqlite-ledger', () => {
  it('finds all entries of an id on one server, whatever their project and start', async () => {
    await ledger.commit('prod', { entries: [ended('pay', 7, 50), ended('shop', 7, 90, 80), ended('pay', 8, 50)] });
    await ledger.commit('other', { entries: [ended('pay', 7, 50)] });
    expect(await ledger.find('prod', [7, 9])).toEqual([
      { project: 'pay', id: 7, startedAtMs: 1, endedAtMs: 50 },
      { project: 'shop', id: 7, startedAtMs: 80, endedAtMs: 90 },
    ]);
  });

  it('counts the ends of some projects within a window, both of its ends too', async () => {
    const entries = [ended('pay', 1, 99), ended('pay', 2, 100), ended('shop', 3, 200), ended('shop', 4, 201)];
    await ledger.commit('prod', { entries: [...entries, ended('old', 5, 150)] });
    expect(await ledger.countEnds('prod', { projects: ['pay', 'shop'], beginMs: 100, endMs: 200 })).toBe(2);
  });

  it('tells the first end of a project from a time on', async () => {
    await ledger.commit('prod', { entries: [ended('pay', 1, 100), ended('pay', 2, 300), ended('shop', 3, 200)] });
    expect(await ledger.firstEnd('prod', 'pay', 100)).toBe(100);
    expect(await ledger.firstEnd('prod', 'pay', 101)).toBe(300);
    expect(await ledger.firstEnd('prod', 'pay', 301)).toBeUndefined();
  });

  it('keeps an entry once, and knows how many there are', async () => {
    await ledger.commit('prod', { entries: [ended('pay', 1, 100), ended('pay', 1, 100), ended('pay', 1, 100, 2)] });
    await ledger.commit('prod', { entries: [ended('pay', 1, 100)] });
    expect(await ledger.size('prod')).toBe(2);
    expect(await ledger.size('other')).toBe(0);
  });

  it('prunes what ended before a time, only in one project', async () => {
    const entries = [ended('pay', 1, 99), ended('pay', 2, 100), ended('shop', 3, 99)];
    await ledger.commit('prod', { entries });
    await ledger.commit('prod', { prune: { project: 'pay', endedBeforeMs: 100 } });
    expect(await ledger.size('prod')).toBe(2);
    expect((await ledger.find('prod', [1, 2, 3])).map(({ id }) => id)).toEqual([2, 3]);
  });

  it('keeps what is written last under a name, and forgets what has no body any longer', async () => {
    const put = (key: string, body: string | undefined) => ({ kind: 'cell', key, body });
    await ledger.commit('prod', { documents: [put('a', '1'), put('b', '1'), put('a', '2')] });
    await ledger.commit('prod', { documents: [put('b', undefined)] });
    expect(await ledger.load('prod')).toEqual([{ kind: 'cell', key: 'a', body: '2' }]);
    expect(await ledger.load('other')).toEqual([]);
  });

  it('keeps nothing of a change when one part of it cannot be kept', async () => {
    const entries = [ended('pay', 1, 100), ended('pay', 2, Number.NaN)];
    await expect(
      ledger.commit('prod', { entries, documents: [{ kind: 'cell', key: 'a', body: '1' }] }),
    ).rejects.toThrow('the state cannot be written');
    expect(await ledger.size('prod')).toBe(0);
    expect(await ledger.load('prod')).toEqual([]);
  });
});
