/**
 * Finished traces on their way to the trace backend. What is in it stays until it was delivered, or until someone drops it;
 * it gets in by the ledger's own transactions.
 */
export type Spool = {
  /**
   * Returns the first traces of the queue that are not quarantined, except some keys, up to both bounds; at least one, if
   * there is any.
   */
  readonly next: (bounds: SpoolBounds, but?: readonly string[]) => Promise<readonly SpooledTrace[]>;
  readonly remove: (keys: readonly string[]) => Promise<void>;
  /** Removes a trace from the queue. Over the bounds the ones that were quarantined first are dropped; returns those. */
  readonly quarantine: (
    key: string,
    why: QuarantineReason,
    bounds: SpoolBounds,
  ) => Promise<readonly QuarantinedTrace[]>;
  readonly quarantined: () => Promise<readonly QuarantinedTrace[]>;
  /** Puts quarantined traces back into the queue, at their old places; returns how many there were. */
  readonly retry: (keys: readonly string[]) => Promise<number>;
  /** Forgets quarantined traces; returns how many there were. */
  readonly drop: (keys: readonly string[]) => Promise<number>;
  readonly size: () => Promise<SpoolSize>;
  /** Reports whether more may get in; those that are quarantined have bounds of their own. */
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

export type QuarantineReason = { readonly reason: string; readonly atMs: number };

/** A quarantined trace without its bytes: how large they are. */
export type QuarantinedTrace = Omit<SpooledTrace, 'bytes'> & { readonly size: number } & QuarantineReason;

export type SpoolSize = {
  readonly traces: number;
  readonly bytes: number;
  /** The time at which the first in the queue was spooled; undefined if the queue is empty. */
  readonly oldestMs: number | undefined;
  readonly quarantinedTraces: number;
  readonly quarantinedBytes: number;
};
