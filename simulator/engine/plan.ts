import { createRandom, type Random } from '../random.ts';
import type { Conditions, Step, Work } from '../world/work.ts';

type RunState = 'SUCCEEDED' | 'FAILED' | 'NODE_MIXED' | 'NODE_PARTIAL_SUCCEEDED' | 'NOT_STARTED';

export type NodeRun = {
  readonly startMs: number;
  readonly endMs: number;
  /** The start of the error handler, if it ran. */
  readonly handlerMs: number | undefined;
  readonly state: 'SUCCEEDED' | 'FAILED';
  readonly reason: string | undefined;
};

export type StepRun = {
  readonly number: number;
  readonly step: Step;
  /** When the step started; undefined if it was never reached. */
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  readonly state: RunState;
  readonly reason: string | undefined;
  readonly nodes: ReadonlyMap<string, NodeRun>;
  readonly workflow: WorkflowRun | undefined;
  readonly perNode: ReadonlyMap<string, WorkflowRun>;
};

export type WorkflowRun = {
  readonly nodes: readonly string[];
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  readonly state: RunState;
  readonly steps: readonly StepRun[];
  readonly failedNodes: ReadonlySet<string>;
};

/** Plans everything that a run will do, in milliseconds after its first step starts. The same seed gives the same run. */
export function planRun(work: Work, conditions: Conditions, seed: number): WorkflowRun {
  const setting = { conditions, random: createRandom(seed), references: work.references, depth: 0 };
  return planWorkflow(work, work.nodes, 0, setting);
}

type Setting = {
  readonly conditions: Conditions;
  readonly random: Random;
  readonly references: ReadonlyMap<string, Work>;
  readonly depth: number;
};

function planWorkflow(work: Work, nodes: readonly string[], startMs: number, setting: Setting): WorkflowRun {
  const steps: StepRun[] = [];
  const failedNodes = new Set<string>();
  let time = startMs;
  let stopped = false;
  // The node filter of the job matched no node.
  let failed = nodes.length === 0 && work.steps.some(({ nodeStep }) => nodeStep);
  for (const [index, step] of work.steps.entries()) {
    const live = nodes.filter((node) => !failedNodes.has(node));
    if (stopped || live.length === 0) {
      steps.push(toUnreached(index + 1, step));
      continue;
    }
    const run = planStep(step, { number: index + 1, nodes: live, startMs: time }, setting);
    steps.push(run);
    time = run.endMs ?? time;
    for (const [node, nodeRun] of run.nodes) {
      if (nodeRun.state === 'FAILED' && step.nodeStep) failedNodes.add(node);
    }
    const isLost = step.handler?.mendsRun === false && [...run.nodes.values()].some(hadHandler) && !work.keepGoing;
    const isBad = isLost || (run.state !== 'SUCCEEDED' && run.state !== 'NOT_STARTED');
    failed ||= isBad;
    stopped ||= isBad && !work.keepGoing;
  }
  return { nodes, startMs, endMs: time, state: failed ? 'FAILED' : 'SUCCEEDED', steps, failedNodes };
}

type Place = { readonly number: number; readonly nodes: readonly string[]; readonly startMs: number };

function planStep(step: Step, { number, nodes, startMs }: Place, setting: Setting): StepRun {
  if (step.kind === 'conditional') return planConditional(step, { number, nodes, startMs }, setting);
  const child = step.kind === 'jobref' && setting.depth < 4 ? setting.references.get(step.text) : undefined;
  if (child !== undefined && !step.nodeStep) return planReference(step, child, { number, nodes, startMs }, setting);
  const runs = new Map<string, NodeRun>();
  const perNode = new Map<string, WorkflowRun>();
  for (const node of step.nodeStep ? nodes : ['']) {
    if (child === undefined) {
      runs.set(node, planNode(step, node, startMs, setting));
      continue;
    }
    const workflow = planWorkflow(child, [node], startMs, { ...setting, depth: setting.depth + 1 });
    perNode.set(node, workflow);
    runs.set(node, toNodeRun(workflow, startMs));
  }
  const all = [...runs.values()];
  return {
    number,
    step,
    startMs,
    endMs: Math.max(...all.map((run) => run.endMs)),
    state: toStepState(all),
    reason: all.find((run) => run.state === 'FAILED')?.reason ?? all.find(hadHandler)?.reason,
    nodes: runs,
    workflow: child === undefined ? undefined : toTemplate(child, nodes),
    perNode,
  };
}

function planReference(step: Step, child: Work, { number, startMs }: Place, setting: Setting): StepRun {
  const workflow = planWorkflow(child, child.nodes, startMs + 20, { ...setting, depth: setting.depth + 1 });
  const state = workflow.state;
  const reason = state === 'SUCCEEDED' ? undefined : 'JobFailed';
  const endMs = (workflow.endMs ?? startMs) + 15;
  return { number, step, startMs, endMs, state, reason, nodes: new Map(), workflow, perNode: new Map() };
}

function planConditional(step: Step, { number, nodes, startMs }: Place, setting: Setting): StepRun {
  const inner = {
    nodes,
    steps: step.steps ?? [],
    keepGoing: false,
    timeoutMs: undefined,
    references: setting.references,
  };
  const isMet = step.isMet !== false;
  const workflow = isMet ? planWorkflow(inner, nodes, startMs, setting) : toTemplate(inner, nodes);
  return {
    ...toUnreached(number, step),
    startMs: workflow.startMs,
    endMs: workflow.endMs,
    state: workflow.state,
    workflow,
  };
}

function hadHandler({ handlerMs }: NodeRun): boolean {
  return handlerMs !== undefined;
}

function planNode(step: Step, node: string, startMs: number, { conditions, random }: Setting): NodeRun {
  const begin = startMs + Math.floor(random() * 40);
  const spread = 0.6 + random() * 0.6 + (random() < 0.05 ? random() * 2 : 0);
  const lengthMs = Math.max(5, Math.round(step.seconds * 1000 * spread * conditions.durationFactor));
  const isDown = conditions.downNodes.includes(node);
  const isRefused = step.key !== undefined && conditions.refusedKeys.includes(step.key);
  const fails = random() < step.failureChance * conditions.failureFactor || isDown || isRefused;
  if (!fails) {
    return { startMs: begin, endMs: begin + lengthMs, handlerMs: undefined, state: 'SUCCEEDED', reason: undefined };
  }
  const failMs = begin + (isDown ? Math.min(lengthMs, 5000) : Math.ceil(lengthMs * (0.3 + random() * 0.6)));
  const reason = isDown
    ? 'ConnectionFailure'
    : isRefused
      ? 'AuthenticationFailure'
      : (step.reason ?? 'NonZeroResultCode');
  if (step.handler === undefined) {
    return { startMs: begin, endMs: failMs, handlerMs: undefined, state: 'FAILED', reason };
  }
  const endMs = failMs + Math.max(5, Math.round(step.handler.seconds * 1000));
  const recovers = !isDown && !isRefused && random() >= step.handler.failureChance;
  return { startMs: begin, endMs, handlerMs: failMs, state: recovers ? 'SUCCEEDED' : 'FAILED', reason };
}

function toNodeRun(workflow: WorkflowRun, startMs: number): NodeRun {
  const succeeded = workflow.state === 'SUCCEEDED';
  const reason = succeeded ? undefined : 'JobFailed';
  const endMs = workflow.endMs ?? startMs;
  return { startMs, endMs, handlerMs: undefined, state: succeeded ? 'SUCCEEDED' : 'FAILED', reason };
}

function toStepState(runs: readonly NodeRun[]): RunState {
  const failures = runs.filter((run) => run.state === 'FAILED').length;
  if (failures === 0) return 'SUCCEEDED';
  return failures === runs.length ? 'FAILED' : 'NODE_MIXED';
}

function toUnreached(number: number, step: Step): StepRun {
  return {
    number,
    step,
    startMs: undefined,
    endMs: undefined,
    state: 'NOT_STARTED',
    reason: undefined,
    nodes: new Map(),
    workflow: undefined,
    perNode: new Map(),
  };
}

/** Returns the template of a reference that runs once for each node. The sub-workflow of the template itself never starts. */
function toTemplate(work: Work, nodes: readonly string[]): WorkflowRun {
  const steps = work.steps.map((step, index) => toUnreached(index + 1, step));
  return { nodes, startMs: undefined, endMs: undefined, state: 'NOT_STARTED', steps, failedNodes: new Set() };
}
