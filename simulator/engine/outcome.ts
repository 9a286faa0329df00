import type { Release } from '../release.ts';
import { type Execution, toShown } from '../world/installation.ts';
import type { Step } from '../world/work.ts';
import { type NodeRun, planRun, type StepRun, type WorkflowRun } from './plan.ts';

type Outcome = {
  readonly succeeded: boolean;
  readonly lengthMs: number;
  readonly succeededNodes: readonly string[];
  readonly failedNodes: readonly string[];
};

export function planOf(execution: Execution): WorkflowRun {
  if (execution.plan !== undefined) return execution.plan;
  const plan = planRun(execution.work, execution.conditions, execution.seed);
  return execution.fitMs === undefined ? plan : scaleRun(plan, execution.fitMs);
}

/** Returns how a run ends if it is not interrupted; with `cutMs`, its state after this time. */
export function toOutcome(plan: WorkflowRun, cutMs = Number.POSITIVE_INFINITY): Outcome {
  const good = new Set<string>();
  const bad = new Set<string>();
  collect(plan, cutMs, good, bad);
  return {
    succeeded: plan.state === 'SUCCEEDED',
    lengthMs: plan.endMs ?? 0,
    succeededNodes: [...good].filter((node) => !bad.has(node)).sort(),
    failedNodes: [...bad].sort(),
  };
}

function collect(workflow: WorkflowRun, cutMs: number, good: Set<string>, bad: Set<string>): void {
  for (const step of workflow.steps) {
    for (const [node, run] of step.nodes) {
      if (node !== '' && run.startMs <= cutMs) (run.state === 'SUCCEEDED' && run.endMs <= cutMs ? good : bad).add(node);
    }
    if (step.workflow !== undefined && step.perNode.size === 0) collect(step.workflow, cutMs, good, bad);
  }
}

function scaleRun(run: WorkflowRun, lengthMs: number): WorkflowRun {
  const factor = lengthMs / Math.max(1, run.endMs ?? 1);
  return scaleWorkflow(run, factor);
}

function scaleWorkflow(run: WorkflowRun, factor: number): WorkflowRun {
  return { ...run, ...scaleTimes(run, factor), steps: run.steps.map((step) => scaleStep(step, factor)) };
}

function scaleStep(step: StepRun, factor: number): StepRun {
  const nodes = new Map<string, NodeRun>();
  for (const [name, { startMs, endMs, handlerMs, ...rest }] of step.nodes) {
    const handler = handlerMs === undefined ? undefined : Math.round(handlerMs * factor);
    nodes.set(name, {
      ...rest,
      startMs: Math.round(startMs * factor),
      endMs: Math.round(endMs * factor),
      handlerMs: handler,
    });
  }
  return {
    ...step,
    ...scaleTimes(step, factor),
    nodes,
    workflow: step.workflow === undefined ? undefined : scaleWorkflow(step.workflow, factor),
    perNode: new Map([...step.perNode].map(([name, workflow]) => [name, scaleWorkflow(workflow, factor)])),
  };
}

type Times = { readonly startMs: number | undefined; readonly endMs: number | undefined };

function scaleTimes({ startMs, endMs }: Times, factor: number): Times {
  const scale = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms * factor));
  return { startMs: scale(startMs), endMs: scale(endMs) };
}

type StateWord =
  | 'WAITING'
  | 'RUNNING'
  | 'RUNNING_HANDLER'
  | 'SUCCEEDED'
  | 'FAILED'
  | 'ABORTED'
  | 'NODE_PARTIAL_SUCCEEDED'
  | 'NODE_MIXED'
  | 'NOT_STARTED';

/** The progress of a run, and whether it can still change. */
export type Progress = {
  /** Milliseconds after the first step began. */
  readonly cutMs: number;
  readonly final: boolean;
  /** Returns the member's time some milliseconds after the start of the first step. */
  readonly toShown: (ms: number) => number;
  /** True if the running step notices that the run was ended, and fails. Otherwise the step is closed with the run. */
  readonly isNoticed: boolean;
};

export type Moment = {
  readonly state: StateWord;
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  readonly reason: string | undefined;
};

export function progressOf(execution: Execution, atMs: number): Progress {
  const { end, lostAtMs, workAtMs, startedAtMs } = execution;
  // The stored state of a run does not change after a crash, even if the run is marked incomplete later.
  const final = end !== undefined && lostAtMs === undefined && end.atMs <= atMs;
  const untilMs = Math.min(atMs, lostAtMs ?? atMs, end?.atMs ?? atMs);
  const beganMs = Number.isFinite(workAtMs) ? workAtMs : Number.POSITIVE_INFINITY;
  const originMs = Number.isFinite(workAtMs) ? workAtMs : startedAtMs;
  return {
    cutMs: untilMs - beganMs,
    final,
    toShown: (ms) => toShown(execution, originMs + ms),
    isNoticed: execution.seed % 2 === 0,
  };
}

type Span = {
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  readonly state: Exclude<StateWord, 'WAITING' | 'RUNNING' | 'RUNNING_HANDLER' | 'ABORTED'>;
  readonly reason: string | undefined;
};

/** Computes the current state of a planned step, node or workflow. */
export function momentOf(span: Span, progress: Progress, handlerMs?: number): Moment {
  const { startMs, endMs } = span;
  if (startMs === undefined || endMs === undefined || startMs > progress.cutMs) {
    const state = progress.final ? 'NOT_STARTED' : 'WAITING';
    return { state, startMs: undefined, endMs: progress.final ? progress.cutMs : undefined, reason: undefined };
  }
  if (endMs <= progress.cutMs) return { state: span.state, startMs, endMs, reason: span.reason };
  if (progress.final) {
    // A workflow is closed only as succeeded or failed.
    const cut = 'steps' in span || progress.isNoticed ? 'FAILED' : 'ABORTED';
    return { state: cut, startMs, endMs: progress.cutMs, reason: cut === 'FAILED' ? 'Interrupted' : undefined };
  }
  const inHandler = handlerMs !== undefined && handlerMs <= progress.cutMs;
  return { state: inHandler ? 'RUNNING_HANDLER' : 'RUNNING', startMs, endMs: undefined, reason: undefined };
}

/** Returns a failure in the words of a release: its reason, the exit code if there is one, and the message. */
export function wordFailure(reason: string, { kind }: Step, { failsUnknown }: Release) {
  const isCommand = kind === 'exec' || kind === 'script';
  // A stopped command has no exit code of its own.
  const stoppedCode = 2_147_483_647;
  if (reason === 'Interrupted' && isCommand && !failsUnknown)
    return { reason: 'NonZeroResultCode', code: stoppedCode, message: `Result code was ${stoppedCode}` };
  const isExit = reason === 'NonZeroResultCode';
  const code = isExit ? 1 : undefined;
  const isBySsh = failsUnknown && isCommand && (isExit || reason === 'ConnectionFailure');
  if (!isBySsh) return { reason, code, message: isExit ? 'Result code was 1' : `${reason} on demand` };
  const message = isExit ? 'Remote command failed with exit status 1' : 'Connection refused';
  return { reason: 'Unknown', code: code ?? -1, message };
}

export function nodeMoment(run: NodeRun | undefined, progress: Progress): Moment {
  const span = run ?? { startMs: undefined, endMs: undefined, state: 'NOT_STARTED' as const, reason: undefined };
  return momentOf(span, progress, run?.handlerMs);
}
