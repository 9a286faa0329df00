import { describe, expect, it } from 'vitest';
import { createOwnedStates, markBehind, observeWrites } from '../../src/ownership/owned-states.ts';
import type { Ledger } from '../../src/state/ledger.ts';
import { FencedError, UnansweredError } from '../../src/state/shared-state.ts';
import type { SpooledTrace } from '../../src/state/spool.ts';
import type { State } from '../../src/state/state.ts';
import { createDisk, openMemoryState } from '../world/memory-state.ts';

function openState(): State {
  return openMemoryState(createDisk(), { wait: () => Promise.resolve() });
}

function trace(server: string, id: number): SpooledTrace {
  const bytes = Buffer.alloc(10);
  const about = { server, executionId: String(id), startedAtMs: id, spooledAtMs: id };
  return { key: `${server} ${id}`, ...about, encoding: 'json', spans: 1, bytes };
}

const bounds = { maxBytes: 1000, maxTraces: 3 };

describe('ownership/owned-states', () => {
  it('sends traces of every owned server in turn', async () => {
    const { state, put } = createOwnedStates();
    for (const name of ['a', 'b']) put(name, openState());
    await state.ledger.commit('a', { spooled: [1, 2, 3, 4, 5].map((id) => trace('a', id)) });
    await state.ledger.commit('b', { spooled: [trace('b', 1)] });

    const keys: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const found = (await state.spool.next(bounds)).map(({ key }) => key);
      keys.push(...found);
      await state.spool.remove(found);
    }

    expect(keys.toSorted()).toEqual(['a 1', 'a 2', 'a 3', 'a 4', 'a 5', 'b 1']);
    // The second server does not wait for the whole queue of the first.
    expect(keys.indexOf('b 1')).toBeLessThan(4);
    expect(await state.spool.size()).toMatchObject({ traces: 0, bytes: 0 });
  });

  it('leaves a sent trace to the next owner if the server was lost meanwhile', async () => {
    const { state, put, remove } = createOwnedStates();
    const kept = openState();
    put('a', kept);
    await state.ledger.commit('a', { spooled: [trace('a', 1)] });
    const [sent] = await state.spool.next(bounds);
    remove('a');
    await state.spool.remove([sent?.key ?? '']);
    expect(await kept.spool.size()).toMatchObject({ traces: 1 });
  });

  it('reads the size of each queue once for simultaneous callers', async () => {
    const { state, put } = createOwnedStates();
    const kept = openState();
    let asked = 0;
    const size = async () => {
      asked += 1;
      return kept.spool.size();
    };
    put('a', { ...kept, spool: { ...kept.spool, size } });
    expect(await Promise.all(Array.from({ length: 25 }, () => state.spool.hasRoom(bounds)))).toEqual(
      Array.from({ length: 25 }, () => true),
    );
    expect(asked).toBe(1);
    await state.spool.hasRoom(bounds);
    expect(asked).toBe(2);
  });

  it('writes nothing for a server that is not owned', async () => {
    const { state } = createOwnedStates();
    await expect(state.ledger.commit('a', {})).rejects.toBeInstanceOf(FencedError);
    await expect(state.remember({ server: 'a', collector: 'mode' }, { mode: 'active' })).rejects.toThrow(
      'this replica does not own a',
    );
  });

  it('keeps cluster members separate', async () => {
    const { state, put } = createOwnedStates();
    const kept = openState();
    put('prod', kept);
    await state.remember({ server: 'prod/one', collector: 'mode' }, { mode: 'active' });
    await state.remember({ server: 'prod/two', collector: 'mode' }, { mode: 'passive' });
    expect(await state.recall({ server: 'prod/one', collector: 'mode' })).toEqual({ mode: 'active' });
    expect(await kept.recall({ server: 'prod/two', collector: 'mode' })).toEqual({ mode: 'passive' });
  });

  it('reports a fenced or unanswered write', async () => {
    const faults: string[] = [];
    const errors = [new FencedError('another epoch', 'behind'), new UnansweredError('no answer'), new Error('full')];
    const plain = openState();
    const failing: State = { ...plain, remember: () => Promise.reject(errors.shift() ?? new Error('no more')) };
    const observed = observeWrites(
      failing,
      { committed: () => faults.push('committed'), fault: (reason) => faults.push(reason) },
      () => 0,
    );
    for (const says of ['another epoch', 'no answer', 'full'])
      await expect(observed.remember({ server: 'a', collector: 'mode' }, {})).rejects.toThrow(says);
    await observed.ledger.commit('a', {});
    for (const act of ['remove', 'retry', 'drop'] as const) await observed.spool[act]([]);
    expect(faults).toEqual(['behind', 'unanswered', ...Array.from({ length: 4 }, () => 'committed')]);
  });

  it('reads nothing of a server before the marks of its lost commits are stored', async () => {
    const kept = openState();
    let failures = 1;
    const commit: Ledger['commit'] = (...change) => {
      failures -= 1;
      return failures >= 0 ? Promise.reject(new Error('too many connections')) : kept.ledger.commit(...change);
    };
    const { ledger } = markBehind({ ...kept, ledger: { ...kept.ledger, commit } }, 'a', 0);
    await expect(ledger.load('a', ['restored'])).rejects.toThrow('too many connections');
    expect(await ledger.load('a', ['restored'])).toHaveLength(2);
  });
});
