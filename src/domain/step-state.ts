/** The conditions of a step or a node (API reference, "States and transitions"). `unknown` stands for any other word. */
export const stepConditions = [
  'waiting',
  'running',
  'running-handler',
  'succeeded',
  'failed',
  'aborted',
  'partial',
  'mixed',
  'not-started',
  'unknown',
] as const;
export type StepCondition = (typeof stepConditions)[number];

/** The progress of a step, a node or a whole workflow. Times are in whole seconds, except the duration. */
export type Progress = {
  readonly condition: StepCondition;
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  /** The exact duration, while `endedAtMs - startedAtMs` is rounded; absent before the start. */
  readonly durationMs: number | undefined;
  readonly failureReason: string | undefined;
  readonly exitCode?: number;
  /** True if the error handler ran, in states without a separate step for the handler. */
  readonly hadHandler?: boolean;
};

export type NodeState = Progress & { readonly node: string };

export type StepState = Progress & {
  /** The path of the step: `2/1`; `1e` for an error handler; `2@node=web01/1` below a job reference that runs for each node. */
  readonly context: string | undefined;
  /** True if the step runs on each target node. */
  readonly isNodeStep: boolean;
  readonly nodes: readonly NodeState[];
  readonly workflow: readonly StepState[] | undefined;
  /** The runs of a job reference, each with a node and a workflow. */
  readonly perNode: readonly StepState[];
};

export type ExecutionState = Progress & {
  /** Whether the server marks the state as finished; absent if it sends no mark. */
  readonly isCompleted: boolean | undefined;
  readonly serverNode: string | undefined;
  readonly steps: readonly StepState[];
};

/**
 * Reports whether a state is complete for an execution with the given end. A state without the end of its execution may
 * come from another member, or from before a crash.
 */
export function isWhole(
  { isCompleted, condition, endedAtMs, steps }: ExecutionState,
  executionEndedAtMs: number,
): boolean {
  if (isCompleted === false || isRunning(condition) || (condition === 'waiting' && isCompleted !== true)) return false;
  if (steps.some((step) => step.condition === 'running')) return false;
  return endedAtMs === undefined || executionEndedAtMs - endedAtMs <= maxClosingMs;
}

export function isRunning(condition: StepCondition): boolean {
  return condition === 'running' || condition === 'running-handler';
}

/** How much earlier than its execution a state may end: it has whole seconds, and the log is closed before the end is stored. */
const maxClosingMs = 30_000;

/** A step as defined in its job, without its command or script, which may contain secrets. */
export type WorkflowStep = {
  readonly kind: 'command' | 'script' | 'plugin' | 'reference';
  readonly description: string | undefined;
  /** The type of the plugin, or the name of the referenced job. */
  readonly target: string | undefined;
  readonly isNodeStep: boolean;
  readonly jobId: string | undefined;
  /** The steps of a conditional step, or of the referenced job (only at one of its references). */
  readonly workflow: readonly WorkflowStep[] | undefined;
  readonly handler: WorkflowStep | undefined;
};
