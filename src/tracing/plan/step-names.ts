import type { StepState, WorkflowStep } from '../../domain/step-state.ts';
import { parseStepContext } from './step-context.ts';

/** The steps of a job by their number, where they are still those that ran. */
export type StepNames = {
  readonly nameOf: (number: number, isHandler: boolean) => string | undefined;
  readonly below: (step: { readonly number: number; readonly isHandler: boolean }, states: States) => StepNames;
};

type States = readonly StepState[];
type Steps = readonly WorkflowStep[];

/** Names from a workflow that is read after the run and may have been edited since: level by level, only where it fits. */
export function toStepNames(workflow: Steps | undefined, states: States): StepNames {
  return workflow === undefined ? noNames : namesOfLevel(workflow, states, listExpanded(workflow));
}

const noNames: StepNames = { nameOf: () => undefined, below: () => noNames };

function namesOfLevel(workflow: Steps, states: States, expanded: ReadonlyMap<string, Steps>): StepNames {
  if (!isFitting(workflow, states)) return noNames;
  const find = (number: number, isHandler: boolean): WorkflowStep | undefined => {
    const step = workflow[number - 1];
    return isHandler ? step?.handler : step;
  };
  return {
    nameOf: (number, isHandler) => toName(find(number, isHandler)),
    below: ({ number, isHandler }, statesBelow) => {
      const found = find(number, isHandler);
      // Servers put the steps of a handler that refers to a job below the step that it handled.
      const step = found?.kind === 'reference' ? found : found?.handler;
      const below = step?.workflow ?? (step?.jobId === undefined ? undefined : expanded.get(step.jobId));
      return below === undefined ? noNames : namesOfLevel(below, statesBelow, expanded);
    },
  };
}

/** As many steps, and each of its kind. */
function isFitting(workflow: Steps, states: States): boolean {
  const steps = states.filter(({ context = '' }) => parseStepContext(context)?.at(-1)?.isHandler !== true);
  return steps.length === workflow.length && workflow.every((step, place) => isOfKind(step, steps[place]));
}

function isOfKind(step: WorkflowStep, state: StepState | undefined): boolean {
  if (state === undefined || step.isNodeStep !== state.isNodeStep) return false;
  const isReference = state.workflow !== undefined || state.perNode.length > 0;
  if (step.kind !== 'reference') return !isReference || step.handler?.kind === 'reference';
  return isReference || step.jobId === undefined;
}

function toName(step: WorkflowStep | undefined): string | undefined {
  if (step === undefined) return undefined;
  const { description, target, kind } = step;
  if (description !== undefined && description.trim() !== '') return description.trim();
  if (kind === 'plugin' || kind === 'reference') return target;
  return kind;
}

/** The first place that shows the steps of a job serves all references to it. */
function listExpanded(workflow: Steps, found = new Map<string, Steps>()): ReadonlyMap<string, Steps> {
  for (const step of workflow) {
    if (step.workflow !== undefined) {
      if (step.jobId !== undefined && !found.has(step.jobId)) found.set(step.jobId, step.workflow);
      listExpanded(step.workflow, found);
    }
    if (step.handler !== undefined) listExpanded([step.handler], found);
  }
  return found;
}
