import type { Finished } from '../../domain/execution.ts';
import type { FailureClass } from '../../domain/failure-class.ts';
import type { FailureLines } from '../../domain/job.ts';
import type { LedgerDocument } from '../../state/ledger.ts';
import { measureFailures } from '../counting/measure.ts';
import { toJobName } from '../counting/naming.ts';
import type { Totals } from '../counting/series-slots.ts';

import type { LedgerChange } from './ledger-documents.ts';

const kind = 'failure';

/** A failed execution that is counted, but not by class yet. */
type Failure = {
  readonly project: string;
  readonly group: string;
  readonly name: string;
  readonly failureClass?: FailureClass | undefined;
  readonly id?: number | undefined;
  /** The compared lines of the log; undefined if none were read. */
  readonly lines?: FailureLines | undefined;
  /** True if the failure may have been published by class before a backup of the state was restored. */
  readonly isOfGap?: boolean | undefined;
};

type Counting = { readonly totals: Totals; readonly update: (make: () => Promise<LedgerChange>) => Promise<void> };

/** Documents to commit. Call `done` after the commit. */
export type Noted = { readonly documents: readonly LedgerDocument[]; readonly done: () => void };

type Run = Pick<Finished, 'id' | 'startedAtMs'>;

/** Stores failed executions until a round counts them by class. The class is found between rounds, from the executed steps. */
export function createFailures() {
  const waiting = new Map<string, Failure>();
  let isLoaded = false;
  let isInGap: (project: string) => boolean = () => false;

  function load(documents: readonly LedgerDocument[]): void {
    isLoaded = true;
    waiting.clear();
    for (const { kind: found, key, body = '' } of documents) {
      // This cast is safe: only this file writes these documents.
      if (found === kind) waiting.set(key, JSON.parse(body) as Failure);
    }
  }

  return {
    /** Call with the documents of the ledger, before anything is counted. */
    load,
    /** Loads documents like `load`, but for tracing, which may load the ledger before executions do. */
    loadFirst: (documents: readonly LedgerDocument[]): void => {
      if (!isLoaded) load(documents);
    },
    /** Sets which projects are read again after a restore. */
    follow: (isOfGap: (project: string) => boolean): void => {
      isInGap = isOfGap;
    },
    /** Stores a failure in the transaction that counts it. A failure without a class waits for `settle`. */
    expect: (project: string, run: Finished, failureClass?: FailureClass): Noted => {
      const isOfGap = isInGap(project) || undefined;
      const failure: Failure = { project, ...toJobName(run), id: run.id, failureClass, isOfGap };
      const key = toKey(run);
      return { documents: [toDocument(key, failure)], done: () => waiting.set(key, failure) };
    },
    settle: (run: Run, failureClass: FailureClass, lines?: FailureLines): Noted => {
      const key = toKey(run);
      const failure = waiting.get(key);
      if (failure === undefined) return { documents: [], done: () => undefined };
      return {
        documents: [toDocument(key, { ...failure, failureClass, lines })],
        done: () => {
          const latest = waiting.get(key);
          // If the ledger was opened after the commit, the failure was loaded with its class, and may be counted already.
          if (latest !== undefined) waiting.set(key, { ...latest, failureClass, lines });
        },
      };
    },
    /** Call after a restore. Waiting failures may have been published by class after the backup was made. */
    markRestored: (): readonly LedgerDocument[] => {
      for (const [key, failure] of waiting) waiting.set(key, { ...failure, isOfGap: true });
      return [...waiting].map(([key, failure]) => toDocument(key, failure));
    },
    /** Returns the projects whose totals by class may be lower than the published values from before the restore. */
    behind: (): ReadonlySet<string> =>
      new Set([...waiting.values()].flatMap(({ project, isOfGap }) => (isOfGap === true ? [project] : []))),
    /** Counts the failures whose class is known, and removes them in the same transaction. */
    count: async (cache: Counting, startMs: number): Promise<void> => {
      const classified = [...waiting].flatMap(([key, { failureClass, ...failure }]) =>
        failureClass === undefined ? [] : [{ key, ...failure, failureClass }],
      );
      for (let begin = 0; begin < classified.length; begin += maxAtOnce) {
        const batch = classified.slice(begin, begin + maxAtOnce);
        await cache.update(async () => ({
          ...measureFailures(cache.totals, batch, startMs),
          alongside: batch.map(({ key }) => ({ kind, key, body: undefined })),
        }));
        for (const { key } of batch) waiting.delete(key);
      }
    },
  };
}

export type Failures = ReturnType<typeof createFailures>;

const maxAtOnce = 500;

function toDocument(key: string, failure: Failure): LedgerDocument {
  return { kind, key, body: JSON.stringify(failure) };
}

function toKey({ id, startedAtMs }: Run): string {
  return `${startedAtMs} ${id}`;
}
