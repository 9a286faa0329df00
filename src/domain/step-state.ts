/** The conditions of a step or a node (API reference, "States and transitions"); `unknown` stands for any other word. */
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

/** The progress of a step, a node or a whole workflow; in whole seconds, except for the duration. */
export type Progress = {
  readonly condition: StepCondition;
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  /** Exact, while `endedAtMs - startedAtMs` is not; absent before the start. */
  readonly durationMs: number | undefined;
  readonly failureReason: string | undefined;
  readonly exitCode?: number;
  /** True if its error handler ran, in states without a separate step for the handler. */
  readonly hadHandler?: boolean;
};

export type NodeState = Progress & { readonly node: string };

export type StepState = Progress & {
  /** The path of the step: `2/1`, `1e` for an error handler, `2@node=web01/1` below a reference run per node. */
  readonly context: string | undefined;
  /** True if it runs on each target node. */
  readonly isNodeStep: boolean;
  readonly nodes: readonly NodeState[];
  /** The steps of a referenced job. */
  readonly workflow: readonly StepState[] | undefined;
  /** The runs of a reference, one for each node, each with its own workflow, in addition to the common `workflow`. */
  readonly perNode: readonly StepState[];
};

export type ExecutionState = Progress & {
  /** Whether the server marks it as finished; absent if it sends no such mark. */
  readonly isCompleted: boolean | undefined;
  readonly serverNode: string | undefined;
  readonly steps: readonly StepState[];
};

/**
 * Reports whether a state is complete for an execution with this end. A member that did not run it may still send an
 * older state without the end, and so may a server that crashed meanwhile.
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

/** Ends in states are whole seconds, and a server closes an execution's log before it stores the end. */
const maxClosingMs = 30_000;

/** A step as its job defines it; never its command or script, which may have secrets. */
export type WorkflowStep = {
  readonly kind: 'command' | 'script' | 'plugin' | 'reference';
  readonly description: string | undefined;
  /** The plugin's type, or the name of the referenced job. */
  readonly target: string | undefined;
  readonly isNodeStep: boolean;
  readonly jobId: string | undefined;
  /** The steps of the referenced job; each job is expanded once, in any place. Of a plugin: the steps of a conditional step. */
  readonly workflow: readonly WorkflowStep[] | undefined;
  readonly handler: WorkflowStep | undefined;
};
