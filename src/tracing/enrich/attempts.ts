import type { LedgerDocument } from '../../state/ledger.ts';

export type Attempts = ReturnType<typeof createAttempts>;

type Run = { id: number; epoch: number };

type Counted = { id: number; nextAttemptId?: number };

type Change = { documents: readonly LedgerDocument[]; done: () => void };

const kind = 'next-attempt';

/** Finds the previous attempt of an execution. A server reports only the next attempt, which may end days later. */
export function createAttempts() {
  /** The attempts, sorted by the time of recording. */
  let known = new Map<string, Previous>();

  /** Returns attempts to remove: those whose next attempt never appeared, and the oldest attempts if there are too many. */
  function findSpent(more: number, atMs: number): readonly string[] {
    let tooMany = known.size + more - maxAttempts;
    const spent: string[] = [];
    for (const [key, previous] of known) {
      if (tooMany <= 0 && atMs - previous.atMs <= maxMs) break;
      tooMany -= 1;
      spent.push(key);
    }
    return spent;
  }

  function toChange(gone: readonly string[], added: readonly (readonly [string, Previous])[]): Change {
    return {
      documents: [
        ...gone.map((key) => ({ kind, key, body: undefined })),
        ...added.map(([key, previous]) => ({ kind, key, body: JSON.stringify(previous) })),
      ],
      done: () => {
        for (const key of gone) known.delete(key);
        for (const [key, previous] of added) known.set(key, previous);
      },
    };
  }

  return {
    load: (documents: readonly LedgerDocument[]): void => {
      // This cast is safe: only `note` writes these documents.
      const found = documents.flatMap(({ kind: each, key, body = '' }) =>
        each === kind ? [[key, JSON.parse(body) as Previous] as const] : [],
      );
      // Attempts may have been recorded before the stored attempts are loaded.
      known = new Map([...known, ...found].sort(([, one], [, other]) => one.atMs - other.atMs));
    },
    previousOf: (run: Run): number | undefined => known.get(toKey(run))?.id,
    /** Reports whether the previous attempt of a retry is known; only the row of that attempt has the link. */
    isComplete: (run: Run & { attempt?: number }): boolean => run.attempt === undefined || known.has(toKey(run)),
    /** Returns the change for counted runs and the attempts that they repeat. Call `done` after the commit. */
    note: (runs: readonly Counted[], epoch: number, atMs: number): Change => {
      const added = runs.flatMap(({ id, nextAttemptId }) =>
        nextAttemptId === undefined ? [] : [[toKey({ id: nextAttemptId, epoch }), { id, atMs }] as const],
      );
      return added.length === 0 ? toChange([], []) : toChange(findSpent(added.length, atMs), added);
    },
    /** Returns the change that removes the previous attempt of a run after the trace of the run was made. */
    forget: (run: Run): Change => toChange(known.has(toKey(run)) ? [toKey(run)] : [], []),
  };
}

/** Reports whether a stored document links two attempts. Returns true for documents of other kinds. */
export function isSoundAttempt(found: string, body: unknown): boolean {
  if (found !== kind) return true;
  // This cast is safe: any object can be read as a record of unknown values.
  const { id, atMs } = (body ?? {}) as Readonly<Record<string, unknown>>;
  return typeof id === 'number' && typeof atMs === 'number';
}

type Previous = { id: number; atMs: number };

function toKey({ id, epoch }: Run): string {
  return `${epoch} ${id}`;
}

const maxAttempts = 10_000;
const maxMs = 30 * 86_400_000;
