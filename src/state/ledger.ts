import type { SpooledTrace } from './spool.ts';

/** Keeps executions, so that each of them counts once. Transactional: a change is in it whole or not at all. */
export type Ledger = {
  /** Everything that is kept of a server but its entries; where kinds are given, at least those. */
  readonly load: (server: string, kinds?: readonly string[]) => Promise<readonly LedgerDocument[]>;
  /** The entries with any of these ids. */
  readonly find: (server: string, ids: readonly number[]) => Promise<readonly LedgerEntry[]>;
  /** Counts the ends of some projects within a window; both its ends belong to it. */
  readonly countEnds: (server: string, window: EndWindow) => Promise<number>;
  /** The first end of a project at a time or after it. */
  readonly firstEnd: (server: string, project: string, fromMs: number) => Promise<number | undefined>;
  readonly size: (server: string) => Promise<number>;
  readonly commit: (server: string, change: LedgerChange) => Promise<void>;
};

/** A finished execution, as it is recognised. Its id is not enough: a new database counts from 1. */
export type LedgerEntry = {
  readonly project: string;
  readonly id: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
};

/** Anything small that is kept by a name; its body is JSON, and absent where it is to be forgotten. */
export type LedgerDocument = { readonly kind: string; readonly key: string; readonly body: string | undefined };

export type EndWindow = { readonly projects: readonly string[]; readonly beginMs: number; readonly endMs: number };

export type LedgerChange = {
  readonly entries?: readonly LedgerEntry[];
  readonly documents?: readonly LedgerDocument[];
  /** Traces that are ready to be sent; what was pending of them is forgotten in the same change. */
  readonly spooled?: readonly SpooledTrace[];
  /** Entries of a project that ended before this need not be known any longer. */
  readonly prune?: { readonly project: string; readonly endedBeforeMs: number };
};
