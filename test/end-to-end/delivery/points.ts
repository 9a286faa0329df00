import type { Ledger, LedgerChange } from '../../../src/state/ledger.ts';

/** A point at which a process stops until it is killed. */
export type StopPoint = {
  readonly at: 'before-commit' | 'in-commit' | 'in-spooling' | 'after-commit' | 'published' | 'answered';
  readonly commits: number;
  readonly writes: number;
};

type Points = {
  readonly arm: (point: StopPoint | undefined) => void;
  readonly around: (ledger: Ledger) => Ledger;
  readonly published: () => void;
  readonly answered: () => void;
};

/** Stops the process at the chosen point after announcing the point. */
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
      // The test process has not killed this process, so the test process must have ended.
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

  /** Applies a change row by row, with stops between. */
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
