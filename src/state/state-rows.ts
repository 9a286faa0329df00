import type { LedgerDocument, LedgerEntry } from './ledger.ts';
import type { QuarantineReason, SpooledTrace } from './spool.ts';

/** Everything that an engine keeps, in its own order and in batches: for copies from one engine to another. */
export type StateRows = {
  /** The servers that have rows. */
  readonly units: () => Promise<readonly string[]>;
  readonly documents: (unit: string) => Promise<readonly LedgerDocument[]>;
  readonly memories: (unit: string) => Promise<readonly MemoryRow[]>;
  /** The entries after one of them, by id and start. */
  readonly entries: (unit: string, after: LedgerEntry | undefined) => Promise<readonly LedgerEntry[]>;
  /** The traces after a place in the queue, quarantined ones too. */
  readonly traces: (unit: string, after: number) => Promise<readonly TraceRow[]>;
};

/** The memory of a collector, as JSON. */
export type MemoryRow = { readonly collector: string; readonly memory: string };

export type TraceRow = {
  readonly place: number;
  readonly trace: SpooledTrace;
  /** Present where it is quarantined. */
  readonly why: QuarantineReason | undefined;
};

/** How many rows are read at once. */
export const batchSizes = { entries: 2000, traces: 100 } as const;
