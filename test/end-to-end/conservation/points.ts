import type { Ledger, LedgerChange } from '../../../src/state/ledger.ts';

/** Where a process stops and waits for its end: around a transaction, or after so many writes inside one. */
export type StopPoint = {
  readonly at: 'before-commit' | 'in-commit' | 'after-commit' | 'published';
  /** How many commits pass before. */
  readonly commits: number;
  readonly writes: number;
};

export type Points = {
  readonly arm: (point: StopPoint | undefined) => void;
  readonly around: (ledger: Ledger) => Ledger;
  readonly published: () => void;
};

/** Stops the process dead at the chosen point; `tell` must have said so before. */
export function createPoints(tell: (point: StopPoint) => void): Points {
  let armed: StopPoint | undefined;
  let commits = 0;
  let writes = 0;

  function pass(at: StopPoint['at']): void {
    if (armed?.at !== at) return;
    if (at === 'published' || (commits >= armed.commits && (at !== 'in-commit' || writes >= armed.writes))) {
      tell(armed);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30_000);
      // Nobody came: whoever armed the point is gone.
      process.exit(1);
    }
  }

  function* stepByStep<Item>(items: readonly Item[]): Generator<Item> {
    for (const item of items) {
      yield item;
      writes += 1;
      pass('in-commit');
    }
  }

  /** The same change; the ledger takes its rows one by one, and so the process can stop between two writes. */
  function slowly({ entries = [], documents = [], ...rest }: LedgerChange): LedgerChange {
    writes = 0;
    return { ...rest, entries: toWalk(entries, stepByStep), documents: toWalk(documents, stepByStep) };
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
  };
}

function toWalk<Item>(items: readonly Item[], walk: (items: readonly Item[]) => Generator<Item>): readonly Item[] {
  return Object.assign([...items], { [Symbol.iterator]: () => walk([...items]) as ArrayIterator<Item> });
}
