import type { NodeRun, StepRun, WorkflowRun } from './plan.ts';

/** The same run, stretched or squeezed to a given length. */
export function scaleRun(run: WorkflowRun, lengthMs: number): WorkflowRun {
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
