import type { Execution, ExecutionStatus } from './execution.ts';
import type { JobNames } from './job-path.ts';

/**
 * The classes of failed executions: what could not be reached, was not permitted, was not found or is defined wrongly; the
 * server itself; a person or a limit; the command. `unread` are those whose reason could not be read.
 */
export const failureClasses = [
  'target',
  'access',
  'inventory',
  'definition',
  'system',
  'stopped',
  'work',
  'unknown',
  'unread',
] as const;
export type FailureClass = (typeof failureClasses)[number];

/** Reports whether an execution counts among the failed ones, which have a class. */
export function isFailure({
  status,
  failedNodes,
  succeededNodes,
}: Pick<Execution, 'status' | 'failedNodes' | 'succeededNodes'>): boolean {
  // A one-time run may keep this word when it is over.
  if (status === 'scheduled') return failedNodes.length > 0 || succeededNodes === 0;
  return status !== 'succeeded' && status !== 'aborted' && status !== 'missed';
}

/** What decides the class of a failure. */
export type FailureFacts = {
  readonly status: ExecutionStatus;
  readonly customStatus: string | undefined;
  /** The server's word for the first cause. */
  readonly reason: string | undefined;
  readonly isRead: boolean;
  /** True if steps ended only because they were stopped. */
  readonly isStopped: boolean;
};

/** Returns the class of a failure. An execution that was cut off or ran out of time needs no word of its steps. */
export function toFailureClass({ status, customStatus, reason, isRead, isStopped }: FailureFacts): FailureClass {
  if (status === 'timedout') return 'stopped';
  if (status === 'other' && customStatus === 'incomplete') return 'system';
  if (reason !== undefined) return classByReason.get(reason) ?? 'unknown';
  if (isStopped && status === 'failed-with-retry') return 'stopped';
  return isRead || (status === 'other' && customStatus !== undefined) ? 'unknown' : 'unread';
}

const reasonsByClass: Readonly<Partial<Record<FailureClass, readonly string[]>>> = {
  target: ['HostNotFound', 'ConnectionTimeout', 'ConnectionFailure', 'SSHProtocolFailure'],
  access: ['AuthenticationFailure', 'Unauthorized', 'StorageTierAccessError'],
  inventory: ['NoMatchedNodes'],
  definition: [
    'ConfigurationFailure',
    'InvalidOptions',
    'NotFound',
    'WrongParameter',
    'EmptyValue',
    'NoGroup',
    'NoName',
    'ParseArgumentsError',
  ],
  system: [
    'PluginFailed',
    'IOFailure',
    'ServiceFailure',
    'ExecutionServiceError',
    'URLDownloadFailure',
    'CopyFileFailed',
    'ScriptPluginFileCopierOutputMissing',
    'ScriptFileCopierPluginExpectedOutputMissing',
  ],
  stopped: ['Interrupted', 'ExecutionsDisabled', 'FlowControlHalted'],
  work: ['NonZeroResultCode', 'ConditionNotMet', 'AnsibleNonZero', 'AnsibleError'],
};

const classByReason = new Map<string, FailureClass>(
  Object.entries(reasonsByClass).flatMap(([name, reasons]) =>
    // The cast is true: these are its keys.
    reasons.map((reason) => [reason, name as FailureClass] as const),
  ),
);
/** What failed first in an execution. */
export type FirstCause = {
  readonly failureClass: FailureClass;
  /** The server's word for it. */
  readonly reason?: string | undefined;
  readonly exitCode?: number | undefined;
  readonly node?: string | undefined;
  /** The step, for people: `2 (Settle)`; and its path in the workflow. */
  readonly step?: string | undefined;
  readonly context?: string | undefined;
  /** The same step on other nodes where it failed too. */
  readonly others?: readonly Pick<FirstCause, 'node' | 'context'>[] | undefined;
};

/** How often a job failed with the same lines; times are ends of executions. */
export type Seen = {
  readonly fingerprint: string;
  readonly firstMs: number;
  /** The number of such failures, with this one. */
  readonly count: number;
  /** The one before; undefined if it is the first. */
  readonly beforeMs?: number | undefined;
  /** Another job of the server that failed with the same lines. */
  readonly alsoIn?: string | undefined;
};

export type LogLine = {
  readonly level: 'ERROR' | 'WARN' | 'NORMAL';
  readonly text: string;
  readonly node: string | undefined;
  /** The path of its step: `2/1`. */
  readonly context: string | undefined;
  readonly atMs: number | undefined;
};

/** What jobs depend on, as far as it is read for the journal of changes. Times are the server's. */
export type Surroundings = {
  readonly areDefinitionsRead: boolean;
  readonly areKeysRead: boolean;
  readonly areNodesRead: boolean;
  readonly childrenOf: (jobId: string) => readonly JobNames[];
  /** When the inventory of a project no longer had a node; undefined if it has it, or never had it. */
  readonly nodeGoneMs: (project: string, node: string) => number | undefined;
  /** Reports whether nothing changed since then that may let a refused job in; undefined if that was not read. */
  readonly isAccessUnchanged: (job: JobAround, sinceMs: number) => boolean | undefined;
  /** What most jobs that fail now have in common, if a job has it too. */
  readonly causeOf: (job: JobAround) => SharedCause | undefined;
};

/** A job, with what its last runs show of where it runs. */
type JobAround = JobNames & {
  readonly id: string;
  readonly nodes?: Readonly<Record<string, number>>;
  readonly ownerUuid?: string;
};

export type SharedCause = {
  /** What it is, such as `node`, and its name; empty if it is not shown. */
  readonly kind: string;
  readonly subject: string;
  /** When the first of the jobs with it failed. */
  readonly sinceMs: number;
  /** The jobs that failed, and those of them that have it; likewise those that succeeded. */
  readonly failed: number;
  readonly covered: number;
  readonly succeeded: number;
  readonly spared: number;
};
