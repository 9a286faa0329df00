import type { MemoryKey } from '../domain/memory.ts';
import type { LedgerDocument, LedgerEntry } from './ledger.ts';
import type { QuarantineReason, SpooledTrace } from './spool.ts';

/** All rows of an engine, in its order and in batches: for copies between engines. */
export type StateRows = {
  readonly units: () => Promise<readonly string[]>;
  readonly documents: (unit: string) => Promise<readonly LedgerDocument[]>;
  /** The memories of a unit and its members, by server and collector. */
  readonly memories: (unit: string) => Promise<readonly MemoryRow[]>;
  /** The entries after the given one, by id and start. */
  readonly entries: (unit: string, after: LedgerEntry | undefined) => Promise<readonly LedgerEntry[]>;
  /** The traces after a place in the queue, including quarantined ones. */
  readonly traces: (unit: string, after: number) => Promise<readonly TraceRow[]>;
};

/** The memory of a collector, as JSON; its server is the unit or one of its members. */
export type MemoryRow = MemoryKey & { readonly memory: string };

export type TraceRow = {
  readonly place: number;
  readonly trace: SpooledTrace;
  readonly why: QuarantineReason | undefined;
};

/** The maximum of rows to read, write or delete at once: transactions stay small, however large the state is. */
export const batchSizes = { entries: 2000, documents: 500, traces: 100 } as const;
