import type { Execution } from './execution.ts';
import type { LogLine } from './failure-class.ts';
import type { ExecutionState, WorkflowStep } from './step-state.ts';

export type TracedExecution = Omit<Execution, 'nextAttemptId'> & {
  readonly permalink: string | undefined;
  readonly user: string | undefined;
  readonly abortedBy: string | undefined;
  readonly argstring: string | undefined;
  readonly options: ReadonlyMap<string, string>;
  readonly serverUuid: string | undefined;
  readonly retryAttempt: number | undefined;
  /** The next attempt; absent if it could not be created. */
  readonly nextAttemptId: number | undefined;
};

/** The parts from which a trace is made. */
export type SpanSource = {
  readonly execution: TracedExecution;
  /** The state; absent if the server has none, or if the trace does not wait for it. */
  readonly state?: ExecutionState | undefined;
  /** The definition of the workflow; absent for ad hoc runs, and if it cannot be read. */
  readonly workflow?: readonly WorkflowStep[] | undefined;
  /** The reason of a failure from the log, if the state has none. */
  readonly loggedReason?: string | undefined;
  /** The end of the log, if the failure is diagnosed by it. */
  readonly log?: readonly LogLine[] | undefined;
  /** The size of the log, if only its end was read. */
  readonly cutLogBytes?: number | undefined;
  readonly previousAttemptId?: number | undefined;
  readonly expectedAtMs?: number | undefined;
  /** Why the server returned no state. */
  readonly unread?: 'denied' | 'gone' | undefined;
  /** Why the trace lacks some parts. */
  readonly degraded?: 'backlog' | 'seal_timeout' | 'too_large' | undefined;
};
