import type { LedgerDocument } from '../../state/ledger.ts';

/** Finds the attempt that an execution repeats: servers only report the next one, which may end days later. */
export type Attempts = {
  readonly load: (documents: readonly LedgerDocument[]) => void;
  readonly previousOf: (run: Run) => number | undefined;
  /** Returns the change to commit once a run has its trace; `done` is called after the commit. */
  readonly note: (run: Run & { readonly nextId: number | undefined }, atMs: number) => Change;
};

/** Ids are only unique within their epoch. */
type Run = { readonly id: number; readonly epoch: number };

type Change = { readonly documents: readonly LedgerDocument[]; readonly done: () => void };

const kind = 'next-attempt';

export function createAttempts(): Attempts {
  /** In the order in which they were noted. */
  const known = new Map<string, Previous>();

  /** Of those whose next attempt never came, and of the oldest where there are too many. */
  function findSpent(atMs: number): readonly string[] {
    let tooMany = known.size - mostAttempts;
    const spent: string[] = [];
    for (const [key, previous] of known) {
      if (tooMany <= 0 && atMs - previous.atMs <= longestMs) break;
      tooMany -= 1;
      spent.push(key);
    }
    return spent;
  }

  return {
    load: (documents) => {
      // The cast is true: only `note` writes these documents.
      const found = documents.flatMap(({ kind: each, key, body = '' }) =>
        each === kind ? [[key, JSON.parse(body) as Previous] as const] : [],
      );
      for (const [key, previous] of found.sort(([, one], [, other]) => one.atMs - other.atMs)) known.set(key, previous);
    },
    previousOf: (run) => known.get(toKey(run))?.id,
    note: ({ id, epoch, nextId }, atMs) => {
      const own = toKey({ id, epoch });
      const gone = [...new Set([...(known.has(own) ? [own] : []), ...findSpent(atMs)])];
      const next = nextId === undefined ? undefined : { key: toKey({ id: nextId, epoch }), previous: { id, atMs } };
      return {
        documents: [
          ...gone.map((key) => ({ kind, key, body: undefined })),
          ...(next === undefined ? [] : [{ kind, key: next.key, body: JSON.stringify(next.previous) }]),
        ],
        done: () => {
          for (const key of gone) known.delete(key);
          if (next !== undefined) known.set(next.key, next.previous);
        },
      };
    },
  };
}

/** Reports whether a kept row says who comes before whom; documents of other kinds are not ours to judge. */
export function isSoundAttempt(found: string, body: unknown): boolean {
  if (found !== kind) return true;
  // The cast is true: any object has fields of unknown values.
  const { id, atMs } = (body ?? {}) as Readonly<Record<string, unknown>>;
  return typeof id === 'number' && typeof atMs === 'number';
}

type Previous = { readonly id: number; readonly atMs: number };

function toKey({ id, epoch }: Run): string {
  return `${epoch} ${id}`;
}

const mostAttempts = 10_000;
const longestMs = 30 * 86_400_000;
