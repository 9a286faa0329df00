import type { Ledger, LedgerChange } from '../../../src/state/ledger.ts';

/**
 * Where a process stops and waits for its end: around a transaction, after a number of writes inside one or after that of a
 * trace, or once a collector has answered and nothing has become of it.
 */
export type StopPoint = {
  readonly at: 'before-commit' | 'in-commit' | 'in-spooling' | 'after-commit' | 'published' | 'answered';
  /** How many commits pass before. */
  readonly commits: number;
  readonly writes: number;
};

export type Points = {
  readonly arm: (point: StopPoint | undefined) => void;
  readonly around: (ledger: Ledger) => Ledger;
  readonly published: () => void;
  readonly answered: () => void;
};

/** Stops the process dead at the chosen point; `tell` must have said so before. */
export function createPoints(tell: (point: StopPoint) => void): Points {
  let armed: StopPoint | undefined;
  let commits = 0;
  let writes = 0;

  function pass(at: StopPoint['at']): void {
    if (armed?.at !== at) return;
    const isInTime = at === 'published' || at === 'answered' || at === 'in-spooling' || commits >= armed.commits;
    if (isInTime && (at !== 'in-commit' || writes >= armed.writes)) {
      tell(armed);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30_000);
      // Nobody came: whoever armed the point is gone.
      process.exit(1);
    }
  }

  function* stepByStep<Item>(items: readonly Item[], at: StopPoint['at']): Generator<Item> {
    for (const item of items) {
      yield item;
      writes += 1;
      pass(at);
    }
  }

  function toWalk<Item>(items: readonly Item[], at: StopPoint['at']): readonly Item[] {
    return Object.assign([...items], { [Symbol.iterator]: () => stepByStep([...items], at) as ArrayIterator<Item> });
  }

  /** The same change; the ledger takes its rows one by one, and so the process can stop between two writes. */
  function slowly({ entries = [], documents = [], spooled = [], ...rest }: LedgerChange): LedgerChange {
    writes = 0;
    return {
      ...rest,
      entries: toWalk(entries, 'in-commit'),
      documents: toWalk(documents, 'in-commit'),
      spooled: toWalk(spooled, 'in-spooling'),
    };
  }

  return {
    arm: (point) => {
      armed = point;
      commits = 0;
    },
    around: (ledger) => ({
      ...ledger,
      commit: async (server, change) => {
        pass('before-commit');
        await ledger.commit(server, slowly(change));
        pass('after-commit');
        commits += 1;
      },
    }),
    published: () => pass('published'),
    answered: () => pass('answered'),
  };
}
