import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createOwnership } from '../../src/ownership/ownership.ts';
import { type Lease, type Leases, UnfinishedCopyError } from '../../src/state/shared-state.ts';

/** Leases in memory: each request gets its lease, and is recorded. */
function createScene(units: readonly string[], copied: readonly string[] = [], waitsMs = 500) {
  const happened: string[] = [];
  const listed: Lease[] = [];
  let acquiring = 0;
  let most = 0;
  let looks = 0;
  const leases: Leases = {
    list: async () => {
      looks += 1;
      return listed;
    },
    acquire: async (unit, _ttlMs, knownEpoch = 0) => {
      acquiring += 1;
      most = Math.max(most, acquiring);
      await new Promise((resolve) => setImmediate(resolve));
      acquiring -= 1;
      if (copied.includes(unit)) throw new UnfinishedCopyError('the state is incomplete');
      happened.push(knownEpoch === 0 ? `acquire ${unit}` : `acquire ${unit} after epoch ${knownEpoch}`);
      const lease = { unit, owner: 'me', address: '', epoch: 1, commits: 0, remainingMs: 10_000 };
      return { isOurs: true, lease };
    },
    renew: async () => true,
    configure: () => undefined,
    release: async (unit) => void happened.push(`release ${unit}`),
  };
  const ownership = createOwnership({
    units,
    leases,
    clock: { ticks: () => 0, after: (ms, work) => (ms < waitsMs ? wait(work) : () => undefined), random: () => 0 },
    begin: ({ unit }) => {
      happened.push(`begin ${unit}`);
      if (unit === 'broken') throw new Error('no memory');
    },
    end: async (unit, reason) => {
      happened.push(`end ${unit} ${reason}`);
      if (unit === 'stuck') throw new Error('no memory');
    },
    observe: {
      reached: (isReached) => void (isReached || happened.push('unreachable')),
      listed: () => undefined,
      gained: () => undefined,
      lost: () => undefined,
      heldBack: (unit) => void happened.push(`held back ${unit}`),
    },
  });
  return { ownership, happened, listed, most: () => most, looks: () => looks };
}

/** A database that does not answer a request for leases. */
function createSilent(hands = { nowTicks: 0 }) {
  const reached: string[] = [];
  const answer = Promise.withResolvers<[]>();
  const ignore = (): void => undefined;
  const ownership = createOwnership({
    units: ['a'],
    // This cast is safe: only the list is requested.
    leases: { list: () => answer.promise } as unknown as Leases,
    clock: { ticks: () => hands.nowTicks, after: () => ignore, random: () => 0 },
    begin: ignore,
    end: async () => undefined,
    observe: {
      reached: (isReached, error) => void reached.push(isReached ? 'yes' : (error as Error).message),
      listed: ignore,
      gained: ignore,
      lost: ignore,
      heldBack: ignore,
    },
  });
  return { ownership, reached, answer };
}

function wait(work: () => void): () => void {
  const timer = setImmediate(work);
  return () => clearImmediate(timer);
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('ownership/ownership', () => {
  it('reports a database that has not answered for five seconds', async () => {
    const hands = { nowTicks: 0 };
    const { ownership, reached, answer } = createSilent(hands);
    ownership.start();
    hands.nowTicks = 4999;
    ownership.check();
    expect(reached).toEqual([]);
    hands.nowTicks = 5000;
    ownership.check();
    expect(reached).toEqual(['the database has not responded for 5 s']);
    answer.resolve([]);
    await settle();
    ownership.check();
    expect(reached).toEqual(['the database has not responded for 5 s', 'yes']);
  });

  it('does not report a request that failed because the replica cancelled it at its stop', async () => {
    const { ownership, reached, answer } = createSilent();
    ownership.start();
    await ownership.stop();
    answer.reject(new Error('the connections are closed'));
    await settle();
    expect(reached).toEqual([]);
  });

  it('acquires one server at a time', async () => {
    const { ownership, happened, most } = createScene(['a', 'b', 'c', 'd']);
    ownership.start();
    await settle();
    await settle();
    expect(happened.filter((each) => each.startsWith('begin')).toSorted()).toEqual([
      'begin a',
      'begin b',
      'begin c',
      'begin d',
    ]);
    expect(most()).toBe(1);
    await ownership.stop();
  });

  it('releases its servers if it is stopped during a reload', async () => {
    const { ownership, happened } = createScene(['a']);
    ownership.start();
    await settle();
    let change = (): void => undefined;
    const over = ownership.reload(['a'], () => new Promise((resolve) => (change = resolve)));
    await settle();
    await ownership.stop();
    change();
    await over;
    await settle();
    expect(happened).toEqual(['acquire a', 'begin a', 'end a reloaded', 'release a']);
  });

  it('releases servers that it acquires during a stop', async () => {
    const { ownership, happened, most } = createScene(['a']);
    ownership.start();
    for (let turn = 0; turn < 50 && most() === 0; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(happened).toEqual([]);
    await ownership.stop();
    expect(happened).toEqual(['acquire a', 'release a']);
  });

  it('releases a server whose work does not start', async () => {
    const play = async (waitsMs: number): Promise<readonly string[]> => {
      const { ownership, happened } = createScene(['broken'], [], waitsMs);
      ownership.start();
      await settle();
      await ownership.stop();
      return happened;
    };
    const once = ['acquire broken', 'begin broken', 'held back broken', 'end broken left', 'release broken'];
    expect(await play(29_000)).toEqual(once);
    expect((await play(31_000)).slice(0, 6)).toEqual([...once, 'acquire broken after epoch 1']);
  });

  it('does not release a server whose work may not have ended', async () => {
    const { ownership, happened } = createScene(['stuck']);
    ownership.start();
    await settle();
    await ownership.stop();
    expect(happened).toEqual(['acquire stuck', 'begin stuck', 'end stuck left', 'held back stuck']);
  });

  it('requests a new epoch after the database lost transactions', async () => {
    const { ownership, happened } = createScene(['a']);
    ownership.start();
    await settle();
    ownership.noteFault('a', 1, 'behind');
    await settle();
    expect(happened).toEqual(['acquire a', 'begin a', 'end a behind', 'acquire a after epoch 1', 'begin a']);
    await ownership.stop();
  });

  it('acquires other servers while one server is being copied', async () => {
    const { ownership, happened } = createScene(['a', 'b', 'c'], ['b']);
    ownership.start();
    await settle();
    await settle();
    expect(happened.toSorted()).toEqual(['acquire a', 'acquire c', 'begin a', 'begin c', 'held back b']);
    await ownership.stop();
  });

  it('notices lost commits without a write', async () => {
    const { ownership, happened, listed } = createScene(['a']);
    ownership.start();
    await settle();
    ownership.noteCommit('a');
    listed.push({ unit: 'a', owner: 'me', address: '', epoch: 1, commits: 0, remainingMs: 10_000 });
    ownership.start();
    await settle();
    expect(happened).toEqual(['acquire a', 'begin a', 'end a behind', 'acquire a after epoch 1', 'begin a']);
    await ownership.stop();
  });

  it.each([
    { name: 'was deleted', lease: undefined },
    { name: 'was lost with the last transactions', lease: { owner: 'other', epoch: 0 } },
    { name: 'was granted anew', lease: { owner: 'me', epoch: 2 } },
    { name: 'was given to another one after it was lost', lease: { owner: 'other', epoch: 1 } },
  ])('gives up a server as soon as it sees that its lease $name', async ({ lease }) => {
    const { ownership, happened, listed } = createScene(['a']);
    ownership.start();
    await settle();
    if (lease !== undefined) listed.push({ unit: 'a', address: '', commits: 0, remainingMs: 10_000, ...lease });
    ownership.start();
    await settle();
    expect(happened).toEqual(['acquire a', 'begin a', 'end a taken']);
    await ownership.stop();
  });

  it('keeps a server after a failed renewal within its lease', async () => {
    const { ownership, happened, listed } = createScene(['a', 'b']);
    listed.push({ unit: 'b', owner: 'other', address: '', epoch: 1, commits: 0, remainingMs: 10_000 });
    ownership.start();
    await settle();
    ownership.noteFault('a', 1, 'unrenewed');
    await settle();
    listed.push({ unit: 'a', owner: 'me', address: '', epoch: 1, commits: 0, remainingMs: 10_000 });
    ownership.start();
    await settle();
    expect(happened).toEqual(['acquire a', 'begin a', 'end a unrenewed', 'acquire a after epoch 1', 'begin a']);
    await ownership.stop();
  });

  it('adds one listener for the end of the replica', async () => {
    const added = vi.spyOn(AbortSignal.prototype, 'addEventListener');
    const removed = vi.spyOn(AbortSignal.prototype, 'removeEventListener');
    onTestFinished(() => void vi.restoreAllMocks());
    const { ownership, looks } = createScene(['a'], [], Number.POSITIVE_INFINITY);
    ownership.start();
    for (let turn = 0; turn < 10; turn += 1) await settle();
    expect(looks()).toBeGreaterThan(100);
    expect(added.mock.calls.length - removed.mock.calls.length).toBeLessThan(5);
    await ownership.stop();
  });
});
