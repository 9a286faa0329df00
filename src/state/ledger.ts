import type { Finished } from '../domain/execution.ts';
import type { SpooledTrace } from './spool.ts';

/** Stores executions so that each execution counts once. Each change is stored as a whole or not at all. */
export type Ledger = {
  /** Returns the documents of a server. If `kinds` is given, documents of other kinds may be missing. */
  readonly load: (server: string, kinds?: readonly string[]) => Promise<readonly LedgerDocument[]>;
  readonly find: (server: string, ids: readonly number[]) => Promise<readonly LedgerEntry[]>;
  /** Counts the executions of some projects that ended within a window, both ends included. */
  readonly countEnds: (server: string, window: EndWindow) => Promise<number>;
  readonly firstEnd: (server: string, project: string, fromMs: number) => Promise<number | undefined>;
  readonly size: (server: string) => Promise<number>;
  readonly commit: (server: string, change: LedgerChange) => Promise<void>;
};

/** The identity of a finished execution in the ledger. An id alone is not enough, because a new database starts at 1. */
export type LedgerEntry = {
  readonly project: string;
  readonly id: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
};

/** A small named value. `body` is JSON, or undefined to remove the document. */
export type LedgerDocument = { readonly kind: string; readonly key: string; readonly body: string | undefined };

/** Marks a server whose last commits are lost. Each of two readers removes its own mark when it opens its documents. */
export type RestoredMark = { readonly kind: 'restored'; readonly key: 'executions' | 'changes' };

type EndWindow = { readonly projects: readonly string[]; readonly beginMs: number; readonly endMs: number };

export type LedgerChange = {
  readonly entries?: readonly LedgerEntry[];
  readonly documents?: readonly LedgerDocument[];
  /** Traces that are ready to send. The same change removes the pending documents of the traces. */
  readonly spooled?: readonly SpooledTrace[];
  /** The time before which ended entries of a project may be removed. */
  readonly prune?: { readonly project: string; readonly endedBeforeMs: number };
};

/** Hooks of counting: callers may add documents to the transaction of counting; `kept` is called after the commit. */
export type CommitHook = {
  /** The clock of a member may be behind by `lagMs`, so runs may have dates that are too early. */
  readonly keep: (
    project: string,
    runs: readonly Finished[],
    epoch: number,
    lagMs?: number,
  ) => readonly LedgerDocument[];
  readonly kept: (project: string, runs: readonly Finished[]) => void;
  /** Called with the latest end of a transaction, even of an excluded job. */
  readonly readThrough?: (endedAtMs: number) => readonly LedgerDocument[];
};
