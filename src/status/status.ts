import type { HiddenHistory } from '../executions/reading/visibility.ts';
import type { LeftOut } from '../executions/series/fit-series.ts';
import type { SpoolBounds } from '../state/spool.ts';
import type { Trouble } from './problem-kinds.ts';

/** The exporter that watches a server now, where several share their servers. */
export type Watcher =
  | { readonly is: 'us' }
  /** `page` is where browsers open its pages; undefined where its address leads them nowhere, or back to us. */
  | { readonly is: 'other'; readonly address: string; readonly page: string | undefined }
  | { readonly is: 'nobody' };

/** A server that another exporter watches, or none: nothing is known of it here. */
export type Elsewhere = { readonly server: string; readonly watcher: Exclude<Watcher, { is: 'us' }> };

/**
 * The state of a server as its vital polls see it: does it answer, and does it accept the credentials? `elsewhere` is a server
 * that another exporter watches, `unwatched` one that no exporter does.
 */
export type ServerState = 'up' | 'refused' | 'down' | 'waiting' | 'elsewhere' | 'unwatched';

/** A database that does not answer: since when, and why. */
export type DatabaseStatus = { readonly sinceMs: number; readonly message: string };

/** The exporter that owns a server, where several share one database. */
export type LeaseStatus = {
  readonly isOwned: boolean;
  /** The address of the owner. */
  readonly owner: string;
  readonly epoch: number;
  /** The time until the lease expires unless it is renewed. */
  readonly expiresInMs: number;
};

export type CollectorStatus = {
  readonly name: string;
  readonly result: 'success' | 'failed' | 'off' | 'waiting';
  /** The kind of the fault, or the reason why it is off. */
  readonly reason?: string | undefined;
  /** The error message, or the note about a success that skipped something. */
  readonly message?: string | undefined;
  /** Problems of the server, although the poll succeeded. */
  readonly complaints: readonly string[];
  readonly everyMs: number;
  readonly isUnderWay: boolean;
  readonly sinceMs?: number | undefined;
  readonly lastRunAtMs?: number | undefined;
  readonly lastSuccessAtMs?: number | undefined;
  readonly nextRunAtMs?: number | undefined;
  readonly tookMs?: number | undefined;
  /** True if the last run spread its requests over its interval. */
  readonly isSpread?: true;
  readonly series?: number | undefined;
};

/** One address that is watched: a server, or a member of its cluster. */
export type TargetStatus = {
  readonly name: string;
  readonly url: string;
  readonly state: ServerState;
  readonly sinceMs: number | undefined;
  readonly message: string | undefined;
  readonly release: string | undefined;
  readonly apiVersion: number | undefined;
  readonly dialect: string | undefined;
  /** The start of the server, as it reports it. */
  readonly startedAtMs: number | undefined;
  readonly executionMode: string | undefined;
  readonly executionModeSinceMs: number | undefined;
  readonly collectors: readonly CollectorStatus[];
};

/** An execution that runs. */
export type RunningStatus = {
  readonly id: number;
  readonly project: string;
  /** Its group and name; undefined for a command without a job. */
  readonly job: string | undefined;
  readonly startedAtMs: number;
  /** The usual duration. */
  readonly averageMs: number | undefined;
  readonly isOverdue: boolean;
};

/** An execution that has not ended, as the last round saw it. */
export type RunningExecution = RunningStatus & {
  readonly server: string;
  /** True if it is queued or scheduled for later. */
  readonly isWaiting: boolean;
  /** The server's time, and its time when it was asked. */
  readonly serverNowMs: number;
  readonly seenMs: number;
};

/** An execution that is over. */
export type EndedStatus = Pick<RunningStatus, 'id' | 'project' | 'job' | 'startedAtMs'> & {
  readonly ending: string;
  readonly endedAtMs: number;
  /** The first few nodes that it failed on; absent where there is none, or none is known. */
  readonly failedNodes?: readonly string[];
  /** On how many it failed, where those are not all. */
  readonly failedNodeCount?: number;
};

/** A finished execution that is kept for pages, and its server. */
export type EndedExecution = EndedStatus & { readonly server: string };

/** The executions that ended within one hour. */
export type HourOfRuns = {
  readonly startMs: number;
  /** Undefined before the oldest execution that is kept: nothing is known of that time. */
  readonly runs: number | undefined;
  readonly failures: number;
};

/** The executions of a server as of the last round: the first few of each list, and the number of all. */
export type ExecutionsOfServer = {
  /** The server's time. */
  readonly serverNowMs: number;
  /** The server's time at which its running executions were read; undefined before they were. */
  readonly seenMs: number | undefined;
  /** The number of times that its ids have started, from 1. */
  readonly epoch: number | undefined;
  /** The right to read running executions: `denied` if they may not in any project, `unknown` until they were read once. */
  readonly runningSight: 'known' | 'unknown' | 'denied';
  /** Projects whose running executions may not be read although those of others may. */
  readonly runningDenied: readonly string[];
  /** Projects with hidden finished executions. */
  readonly hidden: readonly HiddenHistory[];
  /** Overdue executions first, then the longest running. */
  readonly running: readonly RunningStatus[];
  readonly runningCount: number;
  readonly overdueCount: number;
  /** Scheduled for later, or queued. */
  readonly waitingCount: number;
  /** The newest first. */
  readonly ended: readonly EndedStatus[];
  /** The number of those that are kept for pages. */
  readonly endedCount: number;
  /** The last 24 hours, the oldest first. */
  readonly hours: readonly HourOfRuns[];
  /** Jobs that have no series of their own; undefined until that is known. */
  readonly leftOut: LeftOut | undefined;
};

export type ServerStatus = TargetStatus & {
  readonly members: readonly TargetStatus[];
  /** Undefined while it was not read, or where it is switched off. */
  readonly executions: ExecutionsOfServer | undefined;
  /** The number of projects these credentials may see; undefined before the first list. */
  readonly visibleProjects: number | undefined;
  /** Denied collectors that need an administrator's rights, which our policy never suggests. */
  readonly needsAdmin: readonly DeniedToAll[];
  /** True if members that configuration does not name answer in turn. */
  readonly hidesMembers: boolean;
  /** The exporter that watches it. */
  readonly watcher?: Watcher;
  /** Undefined where the state is a file, or nobody has owned the server. */
  readonly lease?: LeaseStatus | undefined;
  /** The access policy that allows what is denied. */
  readonly missingPolicy: string | undefined;
  /** What is wrong with it, its executions and its schedules, beyond what its collectors report. */
  readonly troubles?: readonly Trouble[];
};

/** A collector that only administrators may ask, and the right that they have. */
export type DeniedToAll = { readonly collector: string; readonly right: string };

/** Traces on their way to the OTLP endpoint. */
export type TracesStatus = {
  /** Undefined where none are made; what is still kept of earlier ones is told all the same. */
  readonly delivery: DeliveryStatus | undefined;
  /** The traces in the queue. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** The time at which the first in the queue was made. */
  readonly oldestMs: number | undefined;
  readonly quarantine: number;
  readonly quarantinedBytes: number;
};

export type DeliveryStatus = {
  /** The host that they are sent to. */
  readonly collector: string;
  /** The time from which deliveries have been failing, and the reason; undefined while they work. */
  readonly failing: { readonly sinceMs: number; readonly reason: string } | undefined;
  readonly lastDeliveredMs: number | undefined;
  /** Executions that are counted and have no trace yet. */
  readonly pending: number;
  readonly bounds: SpoolBounds;
  readonly quarantineBounds: SpoolBounds;
};

/** A trace that the OTLP endpoint rejects in a request of its own. */
export type QuarantineStatus = {
  /** Its name for people: `SERVER/EXECUTION`. */
  readonly name: string;
  readonly server: string;
  readonly executionId: string;
  readonly spans: number;
  /** In bytes. */
  readonly size: number;
  /** The time at which it was quarantined. */
  readonly atMs: number;
  /** The answer of the OTLP endpoint. */
  readonly reason: string;
};

export type Status = {
  readonly version: string;
  readonly atMs: number;
  /** The start of the exporter. */
  readonly startedAtMs: number;
  /** The time at which the configuration in force was read. */
  readonly loadedAtMs: number;
  /** The addresses of replicas whose configuration differs from this one's. */
  readonly differing?: readonly string[];
  /** The last reload, where it failed. */
  readonly failedReload?: { readonly atMs: number; readonly complaints: readonly string[] } | undefined;
  /** The shared database, while it does not answer. */
  readonly database?: DatabaseStatus | undefined;
  readonly servers: readonly ServerStatus[];
  /** Undefined if the state cannot be read. */
  readonly traces: TracesStatus | undefined;
};
