import type { Execution, ExecutionStatus, Finished, JobNames } from './execution.ts';

/**
 * The classes of failed executions, by the cause: a node, access, the definition, the server, a person, a limit, or the command.
 * `unread`: the reason could not be read.
 */
const failureClasses = [
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

/** Reports whether an execution counts as failed, so that it has a class. */
export function isFailure({
  status,
  failedNodes,
  succeededNodes,
}: Pick<Execution, 'status' | 'failedNodes' | 'succeededNodes'>): boolean {
  // A finished one-time run may keep the status `scheduled`.
  if (status === 'scheduled') return failedNodes.length > 0 || succeededNodes === 0;
  return status !== 'succeeded' && status !== 'aborted' && status !== 'missed';
}

type FailureFacts = {
  readonly status: ExecutionStatus;
  readonly customStatus: string | undefined;
  /** The server's word for the first cause. */
  readonly reason: string | undefined;
  readonly isRead: boolean;
  /** True if steps ended only because they were stopped. */
  readonly isStopped: boolean;
};

/** Returns the class of a failure. If the execution was cut off or timed out, its steps are ignored. */
export function toFailureClass({ status, customStatus, reason, isRead, isStopped }: FailureFacts): FailureClass {
  if (status === 'timedout') return 'stopped';
  if (status === 'other' && customStatus === 'incomplete') return 'system';
  if (reason !== undefined) return classByReason.get(reason) ?? 'unknown';
  if (isStopped && status === 'failed-with-retry') return 'stopped';
  return isRead || (status === 'other' && customStatus !== undefined) ? 'unknown' : 'unread';
}

/** The exporter's word for a run that was stopped because its log was too large. The run's steps are only interrupted. */
export const logLimit = 'LogLimitExceeded';

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
  stopped: ['Interrupted', logLimit, 'ExecutionsDisabled', 'FlowControlHalted'],
  work: ['NonZeroResultCode', 'ConditionNotMet', 'AnsibleNonZero', 'AnsibleError'],
};

const classByReason = new Map<string, FailureClass>(
  Object.entries(reasonsByClass).flatMap(([name, reasons]) =>
    // This cast is safe: the names are keys of this table.
    reasons.map((reason) => [reason, name as FailureClass] as const),
  ),
);

/** Words without a class: the cause of the failed step is a step below it. */
const wordsOfOuterSteps: readonly string[] = ['JobFailed', 'NodeDispatchFailure'];

/** Reports whether servers use a word for a reason. Plugins may use any text as a reason. */
export function isKnownReason(reason: string): boolean {
  return classByReason.has(reason) || wordsOfOuterSteps.includes(reason);
}

export type FirstCause = {
  readonly failureClass: FailureClass;
  readonly reason?: string | undefined;
  readonly exitCode?: number | undefined;
  readonly node?: string | undefined;
  /** The step as people read it, such as `2 (Settle)`; `context` is its path in the workflow. */
  readonly step?: string | undefined;
  readonly context?: string | undefined;
  /** The other nodes on which the same step failed. */
  readonly others?: readonly Pick<FirstCause, 'node' | 'context'>[] | undefined;
};

/** How often a job failed with the same lines. All times are ends of executions. */
export type Seen = {
  readonly fingerprint: string;
  readonly firstMs: number;
  /** The number of failures with the same lines, including the failure itself. */
  readonly count: number;
  /** The end of the previous failure; undefined if this failure is the first. */
  readonly beforeMs?: number | undefined;
  /** Another job of the server that failed with the same lines. */
  readonly alsoIn?: string | undefined;
};

/** Why an execution did not succeed. The page of the execution shows this if the steps are no longer in memory. */
export type Cause = {
  /** One sentence: which step failed first, where and why. */
  readonly why: string;
  readonly facts: readonly { readonly name: string; readonly value: string | number }[];
  readonly traceId?: string | undefined;
  readonly permalink?: string | undefined;
  /** The failed run; absent if the execution did not fail, and in states of earlier releases. */
  readonly failure?: FailedRun | undefined;
};

/** A failed execution, its first failure, and how often it has failed with the same lines. */
export type FailedRun = FirstCause & {
  readonly id: number;
  /** `{project}/{group}/{name}`; undefined for a command without a job. */
  readonly job: string | undefined;
  readonly endedAtMs: number;
  readonly seen?: Seen | undefined;
  /** The number of failed nodes, without the node of the first failure. */
  readonly otherNodes?: number | undefined;
};

/** The start distinguishes executions with the same id in an old and a new database. */
export type CauseKey = Pick<Finished, 'id' | 'startedAtMs'>;

export type LogLine = {
  readonly level: 'ERROR' | 'WARN' | 'NORMAL';
  readonly text: string;
  readonly node: string | undefined;
  /** The path of the step, such as `2/1`. */
  readonly context: string | undefined;
  readonly atMs: number | undefined;
  /** The number of hidden lines of the step and node right before this line. `isRead` is false if some lines were not read. */
  readonly gap?: { readonly lines: number; readonly isRead: boolean };
};

/** Returns the final text on a terminal, for example of a progress bar. */
export function toShown(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd().split('\r').at(-1))
    .join('\n');
}

type Place = Pick<FirstCause, 'node' | 'context'>;

/**
 * Reports whether a line belongs to a step on its node. In a log, the error handler of step 2 is `2e`. In a state, the step and
 * its handler may be one. Some logs omit the parameters of steps: `2@node=db03/1` is `2/1`.
 */
export function isOfStep(line: Pick<LogLine, 'node' | 'context'>, { node, context }: Place): boolean {
  if (context === undefined || line.context === undefined) return false;
  const [logged, step] = [withoutHandlers(line.context), withoutHandlers(context)];
  const isAtNode = node === undefined || line.node === undefined || line.node === node;
  return isAtNode && (logged === step || logged === withoutParameters(step));
}

export function withoutHandlers(context: string): string {
  return context.replaceAll(/(?<=(?:^|\/)\d+)e(?=[@/]|$)/g, '');
}

export function withoutParameters(context: string): string {
  return context.replaceAll(/@(?:\\.|[^/])*/g, '');
}

/** The things that jobs depend on, as far as the journal of changes reads them. */
export type Surroundings = {
  readonly areDefinitionsRead: boolean;
  readonly areKeysRead: boolean;
  readonly areNodesRead: boolean;
  readonly jobs: ReadonlyMap<string, JobNames>;
  readonly childrenOf: (jobId: string) => readonly JobNames[];
  readonly keysOf: (jobId: string) => readonly string[];
  /** Returns the number of nodes of a project; undefined if they were not read. */
  readonly nodeCountOf: (project: string) => number | undefined;
  /** Returns when a node disappeared from the inventory of a project, if it did. */
  readonly nodeGoneMs: (project: string, node: string) => number | undefined;
  /**
   * For a job that was refused access at `sinceMs`, returns the last time at which nothing had changed that may give it access.
   * Returns undefined if such a change is known, or if not all keys of the job were read since.
   */
  readonly accessUnchangedMs: (job: JobAround, sinceMs: number) => number | undefined;
  /** Returns the cause that most failing jobs share; undefined if the given job does not have it. */
  readonly causeOf: (job: JobAround) => SharedCause | undefined;
};

/** A job with the nodes and members of its last runs. */
type JobAround = JobNames & {
  readonly id: string;
  readonly nodes?: Readonly<Record<string, number>>;
  readonly ownerUuid?: string;
};

type SharedCause = {
  /** The kind of cause, such as `node`, and its name. The name is empty if the name must not be shown. */
  readonly kind: string;
  readonly subject: string;
  /** The time of the first failure among the failed jobs. */
  readonly sinceMs: number;
  /** The numbers of jobs: failed, failed with the cause, successful, successful with the cause. */
  readonly failed: number;
  readonly covered: number;
  readonly succeeded: number;
  readonly spared: number;
};
