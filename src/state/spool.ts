/** Finished traces that wait for delivery. A trace enters with a ledger transaction and stays until delivered or dropped. */
export type Spool = {
  /**
   * Returns the first traces of the queue up to both bounds, without quarantined traces and the given keys. If the queue has
   * any trace, returns at least one. Traces and log records have separate queues.
   */
  readonly next: (
    bounds: SpoolBounds,
    but?: readonly string[],
    signal?: SpooledSignal,
  ) => Promise<readonly SpooledTrace[]>;
  readonly remove: (keys: readonly string[]) => Promise<void>;
  /** Quarantines a trace. If the bounds are exceeded, removes the oldest quarantined traces and returns them. */
  readonly quarantine: (
    key: string,
    why: QuarantineReason,
    bounds: SpoolBounds,
  ) => Promise<readonly QuarantinedTrace[]>;
  readonly quarantined: () => Promise<readonly QuarantinedTrace[]>;
  /** Puts quarantined traces back into their old positions in the queue. Returns how many traces were put back. */
  readonly retry: (keys: readonly string[]) => Promise<number>;
  /** Removes quarantined traces. Returns how many traces were removed. */
  readonly drop: (keys: readonly string[]) => Promise<number>;
  readonly size: () => Promise<SpoolSize>;
  /** Returns the number of requests and bytes of log records in the queue. */
  readonly sizeOfLogs: () => Promise<QueueSize>;
  /** Reports whether there is room for more traces. Quarantined traces have bounds of their own. */
  readonly hasRoom: (bounds: SpoolBounds) => Promise<boolean>;
};

/** The trace or the log records of one execution, as a complete OTLP request. */
export type SpooledTrace = {
  /** The unique key. If a key is added twice, the first trace stays. */
  readonly key: string;
  readonly server: string;
  readonly executionId: string;
  readonly startedAtMs: number;
  readonly spooledAtMs: number;
  readonly encoding: SpoolEncoding;
  /** The number of spans or log records. */
  readonly spans: number;
  readonly bytes: Uint8Array;
};

export type TraceEncoding = 'protobuf' | 'json';
/** The encoding, which also marks log records, because one table contains traces and log records. */
export type SpoolEncoding = TraceEncoding | `logs-${TraceEncoding}`;
export type SpooledSignal = 'traces' | 'logs';

export type SpoolBounds = { readonly maxBytes: number; readonly maxTraces: number };

export type QuarantineReason = { readonly reason: string; readonly atMs: number };

export type QuarantinedTrace = Omit<SpooledTrace, 'bytes'> & { readonly size: number } & QuarantineReason;

type QueueSize = { readonly traces: number; readonly bytes: number };

export type SpoolSize = QueueSize & {
  /** The time at which the first trace of the queue was added; undefined if the queue is empty. */
  readonly oldestMs: number | undefined;
  readonly quarantinedTraces: number;
  readonly quarantinedBytes: number;
};
