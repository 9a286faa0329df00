import type { FailureClass } from '../../domain/failure-class.ts';
import type { LedgerDocument } from '../../state/ledger.ts';
import { measureFailures } from '../counting/measure.ts';
import { toJobName } from '../counting/naming.ts';
import type { Finished } from '../counting/reconcile.ts';
import type { Totals } from '../counting/series-slots.ts';
import type { LedgerChange } from './ledger-documents.ts';

const kind = 'failure';

/** A failed execution whose class is known and not counted yet. */
export type Failure = {
  readonly project: string;
  readonly group: string;
  readonly name: string;
  readonly failureClass: FailureClass;
};

/** The totals, and the way to change them. */
type Counting = {
  readonly totals: Totals;
  readonly update: (make: () => Promise<LedgerChange>) => Promise<void>;
};

/** A document to commit; `done` is called after the commit. */
export type Noted = { readonly documents: readonly LedgerDocument[]; readonly done: () => void };

/**
 * Keeps the classes of failures until the next round counts them: they become known while the steps are read, and only rounds
 * change totals.
 */
export function createFailures() {
  const waiting = new Map<string, Failure>();
  let loaded: ReadonlySet<string> = new Set();

  return {
    /** Called with the documents of the ledger before anything is counted. */
    load: (documents: readonly LedgerDocument[]): void => {
      const kept = documents.filter((document) => document.kind === kind);
      loaded = new Set(kept.map(({ key }) => key));
      // The cast is true: only `note` writes these documents.
      for (const { key, body = '' } of kept) waiting.set(key, JSON.parse(body) as Failure);
    },
    note: (project: string, run: Finished, failureClass: FailureClass): Noted => {
      const failure = { project, ...toJobName(run), failureClass };
      const key = `${run.startedAtMs} ${run.id}`;
      return {
        documents: [{ kind, key, body: JSON.stringify(failure) }],
        done: () => {
          // A ledger that was opened after the commit has it already, and may have counted it.
          if (!loaded.has(key)) waiting.set(key, failure);
        },
      };
    },
    /** Counts what waits, and forgets it in the same transaction. */
    count: async (cache: Counting): Promise<void> => {
      while (waiting.size > 0) {
        const batch = [...waiting].slice(0, maxAtOnce);
        await cache.update(async () => ({
          cells: measureFailures(
            cache.totals,
            batch.map(([, failure]) => failure),
          ),
          alongside: batch.map(([key]) => ({ kind, key, body: undefined })),
        }));
        for (const [key] of batch) waiting.delete(key);
      }
    },
  };
}

export type Failures = ReturnType<typeof createFailures>;

const maxAtOnce = 500;
