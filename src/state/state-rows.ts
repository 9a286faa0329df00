import type { LedgerDocument, LedgerEntry } from './ledger.ts';
import type { QuarantineReason, SpooledTrace } from './spool.ts';
import type { MemoryKey } from './state.ts';

/** Everything that an engine keeps, in its own order and in batches: for copies from one engine to another. */
export type StateRows = {
  /** The servers that have rows. */
  readonly units: () => Promise<readonly string[]>;
  readonly documents: (unit: string) => Promise<readonly LedgerDocument[]>;
  /** The memories of a unit and of its members, by server and collector. */
  readonly memories: (unit: string) => Promise<readonly MemoryRow[]>;
  /** The entries after one of them, by id and start. */
  readonly entries: (unit: string, after: LedgerEntry | undefined) => Promise<readonly LedgerEntry[]>;
  /** The traces after a place in the queue, quarantined ones too. */
  readonly traces: (unit: string, after: number) => Promise<readonly TraceRow[]>;
};

/** The memory of a collector, as JSON; its server is the unit or one of its members. */
export type MemoryRow = MemoryKey & { readonly memory: string };

export type TraceRow = {
  readonly place: number;
  readonly trace: SpooledTrace;
  /** Present where it is quarantined. */
  readonly why: QuarantineReason | undefined;
};

/** The most rows that are read, written or deleted at once: a transaction stays small, however large the state is. */
export const batchSizes = { entries: 2000, documents: 500, traces: 100 } as const;
