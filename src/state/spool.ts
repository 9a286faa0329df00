/**
 * Finished traces on their way to the collector. What is in it stays until it was delivered, or until someone drops it;
 * it gets in by the ledger's own transactions.
 */
export type Spool = {
  /** The first in line, but for some keys, that are not set aside, up to both bounds; one at least, where there is any. */
  readonly next: (bounds: SpoolBounds, but?: readonly string[]) => Promise<readonly SpooledTrace[]>;
  readonly remove: (keys: readonly string[]) => Promise<void>;
  /** Takes a trace out of the line. Over the bounds the ones that were set aside first are dropped; returns those. */
  readonly setAside: (key: string, why: WhySetAside, bounds: SpoolBounds) => Promise<readonly SetAsideTrace[]>;
  readonly setAsides: () => Promise<readonly SetAsideTrace[]>;
  /** Puts set aside traces back in line, at their old places; returns how many there were. */
  readonly retry: (keys: readonly string[]) => Promise<number>;
  /** Forgets set aside traces; returns how many there were. */
  readonly drop: (keys: readonly string[]) => Promise<number>;
  readonly size: () => Promise<SpoolSize>;
  /** Whether more may get in; those that are set aside have bounds of their own. */
  readonly hasRoom: (bounds: SpoolBounds) => Promise<boolean>;
};

/** One execution's trace, as one complete request of OTLP. */
export type SpooledTrace = {
  /** One key, one trace: the first that was spooled under it stays. */
  readonly key: string;
  readonly server: string;
  readonly executionId: string;
  readonly startedAtMs: number;
  readonly spooledAtMs: number;
  readonly encoding: TraceEncoding;
  readonly spans: number;
  readonly bytes: Uint8Array;
};

export type TraceEncoding = 'protobuf' | 'json';

export type SpoolBounds = { readonly maxBytes: number; readonly maxTraces: number };

export type WhySetAside = { readonly reason: string; readonly atMs: number };

/** A set aside trace without its bytes: how large they are. */
export type SetAsideTrace = Omit<SpooledTrace, 'bytes'> & { readonly size: number } & WhySetAside;

export type SpoolSize = {
  readonly traces: number;
  readonly bytes: number;
  /** When the first in line was spooled; undefined where the line is empty. */
  readonly oldestMs: number | undefined;
  readonly setAside: number;
  readonly setAsideBytes: number;
};
