import type { Book } from './book.ts';
import type { ProjectState } from './project-state.ts';

export type Gap = {
  /** Told at the start, before anything is asked: a process that ends at once has to know it the next time. */
  readonly open: (isRestored: boolean) => Promise<void>;
  /** Told of each round at its begin. */
  readonly begin: (nowMs: number) => Promise<void>;
  /** The server's time up to which all has to be read before it is shown; undefined once all of it has been. */
  readonly untilMs: () => number | undefined;
  /** The projects that have been read that far; what was counted of the others is not shown. */
  readonly readStates: () => ReadonlyMap<string, ProjectState>;
};

/** After a copy was restored, what has ended since it was made is read again first: no counter must be seen to fall. */
export function createGap(book: Book): Gap {
  function untilMs(): number | undefined {
    return book.facts().gapUntilMs;
  }

  async function change(gapUntilMs: number | undefined): Promise<void> {
    await book.update(async () => ({ facts: { ...book.facts(), gapUntilMs } }));
  }

  return {
    open: async (isRestored) => {
      if (isRestored) await change(unknown);
    },
    begin: async (nowMs) => {
      const until = untilMs();
      if (until === unknown) await change(nowMs);
      else if (
        until !== undefined &&
        [...book.states.values()].every(({ scannedThroughMs }) => scannedThroughMs >= until)
      )
        await change(undefined);
    },
    untilMs,
    readStates: () => {
      const until = untilMs();
      if (until === undefined) return book.states;
      return new Map([...book.states].filter(([, { scannedThroughMs }]) => scannedThroughMs >= until));
    },
  };
}

/** Until the first round knows the server's time. */
const unknown = Number.MAX_SAFE_INTEGER;
