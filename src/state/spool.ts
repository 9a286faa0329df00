/** Finished traces that wait for delivery. A trace enters with a ledger transaction and stays until delivered or dropped. */
export type Spool = {
  /**
   * Returns the first traces of the queue within both bounds, but at least one if there is any. Quarantined traces and
   * the given keys are left out. Traces and log records have separate queues.
   */
  readonly next: (
    bounds: SpoolBounds,
    but?: readonly string[],
    signal?: SpooledSignal,
  ) => Promise<readonly SpooledTrace[]>;
  readonly remove: (keys: readonly string[]) => Promise<void>;
  /** Quarantines a trace. Beyond the bounds, the oldest quarantined traces are removed and returned. */
  readonly quarantine: (
    key: string,
    why: QuarantineReason,
    bounds: SpoolBounds,
  ) => Promise<readonly QuarantinedTrace[]>;
  readonly quarantined: () => Promise<readonly QuarantinedTrace[]>;
  /** Puts quarantined traces back into their old places in the queue. Returns how many. */
  readonly retry: (keys: readonly string[]) => Promise<number>;
  /** Removes quarantined traces. Returns how many. */
  readonly drop: (keys: readonly string[]) => Promise<number>;
  readonly size: () => Promise<SpoolSize>;
  /** Returns how many requests of log records are queued, and their bytes. */
  readonly sizeOfLogs: () => Promise<QueueSize>;
  /** Reports whether there is room for more traces. Quarantined traces have bounds of their own. */
  readonly hasRoom: (bounds: SpoolBounds) => Promise<boolean>;
};

/** The trace or the log records of one execution, as a complete OTLP request. */
export type SpooledTrace = {
  /** Unique. If a key is added again, the first trace stays. */
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
/** How the request is encoded. The encoding also marks log records, because one table has both. */
export type SpoolEncoding = TraceEncoding | `logs-${TraceEncoding}`;
export type SpooledSignal = 'traces' | 'logs';

export type SpoolBounds = { readonly maxBytes: number; readonly maxTraces: number };

export type QuarantineReason = { readonly reason: string; readonly atMs: number };

export type QuarantinedTrace = Omit<SpooledTrace, 'bytes'> & { readonly size: number } & QuarantineReason;

type QueueSize = { readonly traces: number; readonly bytes: number };

export type SpoolSize = QueueSize & {
  /** When the first trace in the queue was added; undefined if the queue is empty. */
  readonly oldestMs: number | undefined;
  readonly quarantinedTraces: number;
  readonly quarantinedBytes: number;
};
