import type { StepState, WorkflowStep } from '../../domain/step-state.ts';

/** The steps of a job by number, if the workflow still matches the run. */
export type StepNames = {
  readonly nameOf: (number: number, isHandler: boolean) => string | undefined;
  readonly below: (step: { number: number; isHandler: boolean }, states: States) => StepNames;
};

type States = readonly StepState[];
type Steps = readonly WorkflowStep[];

/**
 * Names steps by a workflow that may have been edited after the run. A level of the workflow is used only if its steps match
 * the steps of the run.
 */
export function toStepNames(workflow: Steps | undefined, states: States): StepNames {
  return workflow === undefined ? noNames : namesOfLevel(workflow, states, listExpanded(workflow));
}

const noNames: StepNames = { nameOf: () => undefined, below: () => noNames };

function namesOfLevel(defined: Steps, states: States, expanded: ReadonlyMap<string, Steps>): StepNames {
  // Release 5.20 of the rundeck dialect reports only the inner steps of a conditional step; release 6.0 reports them below the
  // step.
  const inPlace = defined.flatMap((step) => (isConditional(step) ? (step.workflow ?? []) : [step]));
  const workflow = [defined, inPlace].find((steps) => isFitting(steps, states));
  if (workflow === undefined) return noNames;
  const find = (number: number, isHandler: boolean): WorkflowStep | undefined => {
    const step = workflow[number - 1];
    return isHandler ? step?.handler : step;
  };
  return {
    nameOf: (number, isHandler) => toName(find(number, isHandler)),
    below: ({ number, isHandler }, statesBelow) => {
      const found = find(number, isHandler);
      // If a handler is a job reference, servers report its steps below the step with the error.
      const step = found?.kind === 'reference' || found?.workflow !== undefined ? found : found?.handler;
      const below = step?.workflow ?? (step?.jobId === undefined ? undefined : expanded.get(step.jobId));
      return below === undefined ? noNames : namesOfLevel(below, statesBelow, expanded);
    },
  };
}

/** Reports whether the workflow has the same number of steps, and steps of the same kinds. */
function isFitting(workflow: Steps, states: States): boolean {
  // The pattern is a quick test: most paths cannot belong to a handler, and are not parsed.
  const isHandler = (context: string): boolean =>
    /\de/.test(context) && parseStepContext(context)?.at(-1)?.isHandler === true;
  const steps = states.filter(({ context = '' }) => !isHandler(context));
  return steps.length === workflow.length && workflow.every((step, place) => isOfKind(step, steps[place]));
}

function isOfKind(step: WorkflowStep, state: StepState | undefined): boolean {
  if (state === undefined) return false;
  // If the handler runs on nodes, its step counts as a node step.
  const isOnNodes = step.isNodeStep || (state.isNodeStep && step.handler?.isNodeStep === true);
  if (isOnNodes !== state.isNodeStep) return false;
  const isReference = state.workflow !== undefined || state.perNode.length > 0;
  if (isConditional(step)) return isReference;
  if (step.kind !== 'reference') return !isReference || step.handler?.kind === 'reference';
  return isReference || step.jobId === undefined;
}

function isConditional({ kind, workflow }: WorkflowStep): boolean {
  return kind === 'plugin' && workflow !== undefined;
}

function toName(step: WorkflowStep | undefined): string | undefined {
  if (step === undefined) return undefined;
  const { description, target, kind } = step;
  if (description !== undefined && description.trim() !== '') return description.trim();
  if (kind === 'plugin' || kind === 'reference') return target;
  return kind;
}

/** Maps job references to their steps. If a job is referenced several times, the first reference that has steps is used. */
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

/** One level in the path of a step. */
export type StepPlace = {
  readonly number: number;
  readonly isHandler: boolean;
  /** Contains `node` if a job reference runs for each node. */
  readonly parameters: ReadonlyMap<string, string>;
};

/** Reads `step[e][@key=value,…]` joined by `/`, in which `\` escapes the next character. Returns undefined for other text. */
export function parseStepContext(context: string): readonly StepPlace[] | undefined {
  if (context.length > maxTextLength) return undefined;
  const places = splitAt(context, '/').map(parsePlace);
  return places.every((place) => place !== undefined) ? places : undefined;
}

/** Compares steps of the same parent by number. A handler comes after its step. */
export function comparePlaces(left: StepPlace, right: StepPlace): number {
  return left.number - right.number || Number(left.isHandler) - Number(right.isHandler);
}

/** A longer path cannot come from a server. */
const maxTextLength = 4000;

function parsePlace(text: string): StepPlace | undefined {
  const [, digits, mark, rest] = /^(\d{1,9})(e?)(?:@([\s\S]*))?$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const parameters = new Map<string, string>();
  for (const pair of rest === undefined ? [] : splitAt(rest, ',')) {
    const [key, ...value] = splitAt(pair, '=');
    if (key === undefined || key === '' || value.length === 0) return undefined;
    parameters.set(unescape(key), unescape(value.join('=')));
  }
  return { number: Number(digits), isHandler: mark === 'e', parameters };
}

function splitAt(text: string, separator: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let place = 0; place < text.length; place += 1) {
    if (text[place] === '\\') {
      place += 1;
    } else if (text[place] === separator) {
      parts.push(text.slice(from, place));
      from = place + 1;
    }
  }
  return [...parts, text.slice(from)];
}

function unescape(text: string): string {
  return text.replaceAll(/\\([\s\S])/g, '$1');
}
