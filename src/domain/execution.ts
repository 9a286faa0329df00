/** The statuses of an execution (API reference, "States and transitions", and further ones that servers send). */
export const executionStatuses = [
  'running',
  'scheduled',
  'queued',
  'succeeded',
  'failed',
  'aborted',
  'timedout',
  'failed-with-retry',
  'missed',
  'other',
] as const;
export type ExecutionStatus = (typeof executionStatuses)[number];

/** One run of a job, or of a command without a job. */
export type Execution = {
  readonly id: number;
  readonly status: ExecutionStatus;
  /** The server's own word, where the status is `other`. */
  readonly customStatus: string | undefined;
  readonly project: string | undefined;
  /** Infinite for what waits and has no start yet; the end where the server gives no start of what is over. */
  readonly startedAtMs: number;
  /** True where the end stands for the start. */
  readonly lacksStart?: boolean;
  /** Absent while it is not over, whatever the status says. */
  readonly endedAtMs: number | undefined;
  /** Absent for ad hoc runs, and for those of a job that was deleted. */
  readonly job: ExecutionJob | undefined;
  /** Said by release 6; up to release 5 it shows where only a job can have started the run. */
  readonly isJobDeleted: boolean;
  /** The trigger: `user`, `scheduled`, `user-scheduled` for one-time runs, or a plugin's word. */
  readonly type: string | undefined;
  /** Nodes without a failed step. */
  readonly succeededNodes: number;
  readonly failedNodes: readonly string[];
  /** Absent for the first attempt. */
  readonly attempt?: number;
  /** Absent where nothing repeats it. */
  readonly nextAttemptId?: number;
};

/**
 * Reports whether a row without a job is of one that was deleted: only jobs have schedules and further attempts. Up to release 5
 * servers mark such rows in no other way, and those that a user started look like ad hoc runs.
 */
export function isOfDeletedJob({ type, attempt = 0, nextAttemptId }: Origin): boolean {
  return type === 'scheduled' || type === 'user-scheduled' || attempt > 0 || nextAttemptId !== undefined;
}

type Origin = { readonly [Part in 'type' | 'attempt' | 'nextAttemptId']?: Execution[Part] | undefined };

export type ExecutionJob = {
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** Empty at top level. */
  readonly group: string;
  readonly averageDurationMs: number | undefined;
};

/** Any word that is not known is `other`; `retried` is an older word for an attempt that is followed by another. */
export function toExecutionStatus(word: string | undefined): ExecutionStatus {
  if (word === 'retried') return 'failed-with-retry';
  return executionStatuses.find((status) => status === word) ?? 'other';
}

/** The mode that decides if the service runs anything at all (API reference, "States and transitions"). */
export const executionModes = ['active', 'passive'] as const;
export type ExecutionMode = (typeof executionModes)[number];

/** Reads a mode; undefined for an unknown word: better no series than a wrong one. */
export function toExecutionMode(word: string | undefined): ExecutionMode | undefined {
  return executionModes.find((mode) => mode === word);
}
