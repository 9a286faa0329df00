import type { Book } from './book.ts';

export type Gap = {
  /** The server's time up to which all has to be read before anything is shown; undefined once it has been. */
  readonly untilMs: () => number | undefined;
  /** Told of each round at its begin and at its end. */
  readonly begin: (nowMs: number) => Promise<void>;
  readonly end: () => Promise<void>;
};

/** After a copy was restored, what has ended since it was made is read again first: no counter must be seen to fall. */
export function createGap(book: Book, isRestored: boolean): Gap {
  let isNoted = !isRestored;

  function untilMs(): number | undefined {
    return book.facts().gapUntilMs;
  }

  return {
    untilMs,
    begin: async (nowMs) => {
      if (isNoted) return;
      await book.update(async () => ({ facts: { ...book.facts(), gapUntilMs: nowMs } }));
      isNoted = true;
    },
    end: async () => {
      const until = untilMs();
      if (until === undefined) return;
      for (const { hold, scannedThroughMs } of book.states.values()) {
        if (hold === undefined && scannedThroughMs < until) return;
      }
      await book.update(async () => ({ facts: { ...book.facts(), gapUntilMs: undefined } }));
    },
  };
}
