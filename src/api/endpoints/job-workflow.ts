import { z } from 'zod';
import type { WorkflowStep } from '../../domain/step-state.ts';
import { defineEndpoint, largeListBytes } from '../endpoint.ts';
import { toText } from '../lenient.ts';

/**
 * API reference, "Jobs": the steps of a job and of the jobs that it runs as steps. Servers of the rundeck dialect have this
 * endpoint one version later than documented, and write `jobref` and `errorhandler` in lower case. Commands and scripts are not
 * decoded.
 */
export const jobWorkflow = defineEndpoint({
  name: 'job-workflow',
  path: 'job/{id}/workflow',
  maxBytes: largeListBytes,
  since: { service: 33, rundeck: 34 },
  allowedBy: [{ type: 'job', allow: 'read' }],
  body: z
    .object({ workflow: z.array(z.unknown()) })
    .transform(({ workflow }): readonly WorkflowStep[] => toSteps(workflow, 1)),
});

type Fields = Readonly<Record<string, unknown>>;

/** Servers stop after three levels of references. */
const deepest = 20;

function toSteps(steps: readonly unknown[], depth: number): WorkflowStep[] {
  return depth > deepest ? [] : steps.map((step) => toStep(toFields(step), depth));
}

function toStep(step: Fields, depth: number): WorkflowStep {
  const reference = toFields(step.jobref ?? step.jobRef);
  const kind = toKind(step);
  const handler = step.errorhandler ?? step.errorHandler;
  const inner = step.workflow ?? step.subSteps;
  const below = depth > deepest || !Array.isArray(inner) ? undefined : toSteps(inner, depth + 1);
  return {
    kind,
    description: toText(step.description),
    target: kind === 'reference' ? toText(reference.name) : kind === 'plugin' ? toText(step.type) : undefined,
    isNodeStep: isNodeStep(kind === 'reference' ? reference.nodeStep : step.nodeStep, kind),
    jobId: toText(step.jobId),
    workflow: below,
    // If a handler is a job reference, the job and its steps are siblings of `errorhandler`.
    handler: isFields(handler) && depth <= deepest ? toStep(toHandler(handler, step), depth + 1) : undefined,
  };
}

function toHandler(handler: Fields, { ehJobId, ehWorkflow }: Fields): Fields {
  return { jobId: ehJobId, workflow: ehWorkflow, ...handler };
}

/** Since release 3.4 of the rundeck dialect, commands and scripts are plugins. */
const builtIn: ReadonlyMap<unknown, WorkflowStep['kind']> = new Map([
  ['exec-command', 'command'],
  ['script-inline', 'script'],
  ['script-file-url', 'script'],
]);

function toKind(step: Fields): WorkflowStep['kind'] {
  if (isFields(step.jobref) || isFields(step.jobRef)) return 'reference';
  if (step.type !== undefined && step.type !== null) return builtIn.get(step.type) ?? 'plugin';
  return step.exec === undefined || step.exec === null ? 'script' : 'command';
}

/** Reports whether a step runs on nodes. Commands and scripts always do, and lack this field; in references, the field is text. */
function isNodeStep(value: unknown, kind: WorkflowStep['kind']): boolean {
  if (kind === 'command' || kind === 'script') return true;
  return value === true || value === 'true' || (kind === 'plugin' && (value === undefined || value === null));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}
