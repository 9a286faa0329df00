/**
 * Finished traces that wait for delivery. A trace enters in a transaction of the ledger, and stays until it is delivered or
 * dropped.
 */
export type Spool = {
  /**
   * Returns the first traces of the queue up to both bounds, except quarantined ones and the given keys; at least one, if there
   * is any. Traces and log records have separate queues.
   */
  readonly next: (
    bounds: SpoolBounds,
    but?: readonly string[],
    signal?: SpooledSignal,
  ) => Promise<readonly SpooledTrace[]>;
  readonly remove: (keys: readonly string[]) => Promise<void>;
  /** Quarantines a trace. If the bounds are exceeded, drops the oldest quarantined traces and returns them. */
  readonly quarantine: (
    key: string,
    why: QuarantineReason,
    bounds: SpoolBounds,
  ) => Promise<readonly QuarantinedTrace[]>;
  readonly quarantined: () => Promise<readonly QuarantinedTrace[]>;
  /** Puts quarantined traces back into their old places in the queue; returns their number. */
  readonly retry: (keys: readonly string[]) => Promise<number>;
  /** Drops quarantined traces; returns their number. */
  readonly drop: (keys: readonly string[]) => Promise<number>;
  readonly size: () => Promise<SpoolSize>;
  /** Returns how many log records wait in the queue, in requests and bytes. */
  readonly sizeOfLogs: () => Promise<QueueSize>;
  /** Reports whether there is room for more traces; quarantined traces have separate bounds. */
  readonly hasRoom: (bounds: SpoolBounds) => Promise<boolean>;
};

/** One execution's trace, or its log records, as a complete OTLP request. */
export type SpooledTrace = {
  /** Unique: if a key is spooled twice, the first trace stays. */
  readonly key: string;
  readonly server: string;
  readonly executionId: string;
  readonly startedAtMs: number;
  readonly spooledAtMs: number;
  readonly encoding: SpoolEncoding;
  /** The number of spans, or of log records. */
  readonly spans: number;
  readonly bytes: Uint8Array;
};

export type TraceEncoding = 'protobuf' | 'json';
/** Log records have a mark, so that one table can contain both. */
export type SpoolEncoding = TraceEncoding | `logs-${TraceEncoding}`;
export type SpooledSignal = 'traces' | 'logs';

export type SpoolBounds = { readonly maxBytes: number; readonly maxTraces: number };

export type QuarantineReason = { readonly reason: string; readonly atMs: number };

export type QuarantinedTrace = Omit<SpooledTrace, 'bytes'> & { readonly size: number } & QuarantineReason;

type QueueSize = { readonly traces: number; readonly bytes: number };

export type SpoolSize = QueueSize & {
  /** When the first trace in the queue was spooled; undefined if the queue is empty. */
  readonly oldestMs: number | undefined;
  readonly quarantinedTraces: number;
  readonly quarantinedBytes: number;
};
