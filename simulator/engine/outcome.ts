import type { Execution } from '../world/execution.ts';
import type { WorkflowRun } from './plan.ts';
import { planRun } from './plan.ts';
import { scaleRun } from './scale.ts';

export type Outcome = {
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

/** How a run ends when nobody interferes, or what it had done when it was cut off. */
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
