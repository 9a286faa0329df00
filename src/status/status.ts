import type { Rights } from '../api/rights.ts';
import type { HiddenHistory } from '../executions/reading/visibility.ts';
import type { LeftOut } from '../executions/series/fit-series.ts';
import type { Trouble } from './problem-kinds.ts';

/** The exporter that watches a server now, if several exporters share the servers. */
export type Watcher =
  | { readonly is: 'us' }
  /** `page` is the URL for browsers; undefined if it would not work. */
  | { readonly is: 'other'; readonly address: string; readonly page: string | undefined }
  | { readonly is: 'nobody' };

/** A server that another exporter or no exporter watches. Nothing is known here about a server of another exporter. */
export type Elsewhere = { readonly server: string; readonly watcher: Exclude<Watcher, { is: 'us' }> };

/**
 * Whether a server responds and accepts the credentials. `elsewhere`: another exporter watches the server; `unwatched`: no
 * exporter watches it.
 */
export type ServerState = 'up' | 'refused' | 'down' | 'waiting' | 'elsewhere' | 'unwatched';

export type DatabaseStatus = { readonly sinceMs: number; readonly message: string };

/** The exporter that owns a server, if several share one database. */
export type LeaseStatus = {
  readonly isOwned: boolean;
  readonly owner: string;
  readonly epoch: number;
  /** The time until the lease expires unless it is renewed. */
  readonly expiresInMs: number;
};

export type CollectorStatus = {
  readonly name: string;
  readonly result: 'success' | 'failed' | 'off' | 'waiting';
  /** The kind of the error, or the reason why the collector is off. */
  readonly reason?: string | undefined;
  /** The error message, or a note about skipped parts. */
  readonly message?: string | undefined;
  /** Problems of the server that a successful poll reports. */
  readonly complaints: readonly string[];
  readonly everyMs: number;
  readonly isUnderWay: boolean;
  readonly sinceMs?: number | undefined;
  readonly lastRunAtMs?: number | undefined;
  readonly lastSuccessAtMs?: number | undefined;
  readonly nextRunAtMs?: number | undefined;
  readonly tookMs?: number | undefined;
  /** True if the last poll spread its requests over its interval. */
  readonly isSpread?: true;
  readonly series?: number | undefined;
  /** The number of series that the limit of the collector has dropped. */
  readonly beyondLimit?: number | undefined;
};

/** One watched address: a server or a cluster member. */
export type TargetStatus = {
  readonly name: string;
  readonly url: string;
  readonly state: ServerState;
  readonly sinceMs: number | undefined;
  readonly message: string | undefined;
  readonly release: string | undefined;
  readonly apiVersion: number | undefined;
  readonly dialect: string | undefined;
  readonly startedAtMs: number | undefined;
  readonly executionMode: string | undefined;
  readonly executionModeSinceMs: number | undefined;
  readonly collectors: readonly CollectorStatus[];
};

export type RunningStatus = {
  readonly id: number;
  readonly project: string;
  /** The group and name of the job; undefined for a command without a job. */
  readonly job: string | undefined;
  /** The id; absent for a command without a job, and if the server did not report it. */
  readonly jobId?: string | undefined;
  readonly startedAtMs: number;
  readonly averageMs: number | undefined;
  readonly isOverdue: boolean;
  /** The restart of the server that interrupted the execution; the server still lists the execution. */
  readonly interruptedAtMs?: number | undefined;
};

/** An unfinished execution of the last round. */
export type RunningExecution = RunningStatus & {
  readonly server: string;
  /** True if the execution is queued, or scheduled for later. */
  readonly isWaiting: boolean;
  /** True if running executions cannot be read at the moment. */
  readonly isUnread?: boolean;
  /** The server time, now and at the last read. */
  readonly serverNowMs: number;
  readonly seenMs: number;
};

export type EndedStatus = Pick<RunningStatus, 'id' | 'project' | 'job' | 'jobId' | 'startedAtMs'> & {
  readonly ending: string;
  readonly endedAtMs: number;
  /** The names of some failed nodes; absent if no names are known. */
  readonly failedNodes?: readonly string[];
  /** The number of failed nodes. Set if `failedNodes` does not list all nodes. */
  readonly failedNodeCount?: number;
};

export type EndedExecution = EndedStatus & { readonly server: string };

export type HourOfRuns = {
  readonly startMs: number;
  /** The end of the oldest stored execution, if it is within the hour. */
  readonly sinceMs?: number | undefined;
  /** The number of runs; undefined for hours before the oldest stored execution. */
  readonly runs: number | undefined;
  readonly failures: number;
};

/** The executions of a server in the last round: the first of each list, and the total numbers. */
export type ExecutionsOfServer = {
  readonly serverNowMs: number;
  /** The server time of the last read of running executions; undefined before the first read. */
  readonly seenMs: number | undefined;
  /** The number of times that ids have started from 1. */
  readonly epoch: number | undefined;
  /** The start of counting; undefined if unknown. */
  readonly countedSinceMs: number | undefined;
  /** `denied`: running executions cannot be read in any project; `unknown`: they have not been read yet. */
  readonly runningSight: 'known' | 'unknown' | 'denied';
  /** Projects whose running executions cannot be read, although running executions of other projects can. */
  readonly runningDenied: readonly string[];
  readonly hidden: readonly HiddenHistory[];
  /** The running executions: overdue and interrupted ones first, then the longest. */
  readonly running: readonly RunningStatus[];
  readonly runningCount: number;
  readonly overdueCount: number;
  /** The executions that a restart of the server interrupted, but that the server still lists. */
  readonly interruptedCount: number;
  /** The number of executions that are queued, or scheduled for later. */
  readonly waitingCount: number;
  /** The finished executions, newest first. */
  readonly ended: readonly EndedStatus[];
  /** The number of finished executions that are stored for pages. */
  readonly endedCount: number;
  /** The last 24 hours, oldest first. */
  readonly hours: readonly HourOfRuns[];
  /** Jobs without series of their own; undefined until known. */
  readonly leftOut: LeftOut | undefined;
};

export type ServerStatus = TargetStatus & {
  readonly members: readonly TargetStatus[];
  /** The executions; undefined before the first read, and if the collector is off. */
  readonly executions: ExecutionsOfServer | undefined;
  /** The number of projects that the credentials can see; undefined before the first list. */
  readonly visibleProjects: number | undefined;
  /** Denied collectors that need the rights of an administrator, which a suggested policy never grants. */
  readonly needsAdmin: readonly DeniedToAll[];
  /** True if several members that are not configured respond in turn. */
  readonly hidesMembers: boolean;
  readonly watcher?: Watcher;
  /** The lease; undefined if the state is a file, or if nobody has owned the server yet. */
  readonly lease?: LeaseStatus | undefined;
  /** The access policy that permits the denied requests. */
  readonly missingPolicy: string | undefined;
  /** The rights of the token; undefined until they are known, and on servers before 5.9. */
  readonly rights?: ProvedRights | undefined;
  /** Problems of the server, its executions and its schedules that collectors do not report. */
  readonly troubles?: readonly Trouble[];
};

/** The rights of the credentials, as reported by the server. */
export type ProvedRights = Rights & {
  /** The minimal policy; undefined unless the credentials have more rights. */
  readonly leastPolicy: string | undefined;
  /** The exporter's time when the server reported the rights. */
  readonly atMs: number;
};

export type DeniedToAll = { readonly collector: string; readonly right: string };

/** Traces that wait for delivery to the OTLP endpoint. */
export type TracesStatus = {
  /** The state of delivery; undefined if no traces are made. The state directory may still contain earlier traces. */
  readonly delivery: DeliveryStatus | undefined;
  readonly waiting: number;
  readonly waitingBytes: number;
  /** The time at which the first trace in the queue was made. */
  readonly oldestMs: number | undefined;
  readonly quarantine: number;
  readonly quarantinedBytes: number;
};

export type DeliveryStatus = {
  readonly collector: string;
  /** The start and the reason of failing deliveries; undefined while deliveries succeed. */
  readonly failing: { readonly sinceMs: number; readonly reason: string; readonly what?: string } | undefined;
  readonly lastDeliveredMs: number | undefined;
  /** The number of counted executions without a trace yet. */
  readonly pending: number;
  readonly bounds: Bounds;
  readonly quarantineBounds: Bounds;
};

type Bounds = { readonly maxBytes: number; readonly maxTraces: number };

/** A trace that the OTLP endpoint rejected in a request without other traces. */
export type QuarantineStatus = {
  /** The name of the trace, `SERVER/EXECUTION`. */
  readonly name: string;
  readonly server: string;
  readonly executionId: string;
  readonly spans: number;
  readonly size: number;
  readonly atMs: number;
  readonly reason: string;
};

export type Status = {
  readonly version: string;
  readonly atMs: number;
  readonly startedAtMs: number;
  readonly loadedAtMs: number;
  /** The addresses of replicas with another configuration. */
  readonly differing?: readonly string[];
  /** The alerts that the configuration removes from the rules. */
  readonly alertsOff?: readonly string[];
  readonly failedReload?: { readonly atMs: number; readonly complaints: readonly string[] } | undefined;
  /** The state of the shared database. Set while the database does not respond. */
  readonly database?: DatabaseStatus | undefined;
  readonly servers: readonly ServerStatus[];
  /** The state of traces; undefined if the state cannot be read. */
  readonly traces: TracesStatus | undefined;
};
