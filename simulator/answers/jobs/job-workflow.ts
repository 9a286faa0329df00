import type { Job } from '../../world/job.ts';
import type { Step } from '../../world/work.ts';
import { isAnswer, openJob } from '../access.ts';
import type { Answer, ApiRequest } from '../answer.ts';
import { ok } from '../answer.ts';

/** job/{id}/workflow (API reference, "Jobs"): referenced jobs to depth 3, each expanded once. */
export function jobWorkflow(request: ApiRequest): Answer {
  const job = openJob(request);
  return isAnswer(job) ? job : ok({ workflow: toSteps(request, job, 0, new Set([job.id])) });
}

function toSteps(request: ApiRequest, job: Job, depth: number, expanded: Set<string>): unknown[] {
  return job.definition.work.steps.map((step) => toStep(request, step, depth, expanded));
}

function toStep(request: ApiRequest, step: Step, depth: number, expanded: Set<string>): Record<string, unknown> {
  const { asDocumented } = request.world.release;
  const described = step.description === undefined ? {} : { description: step.description };
  const handled =
    step.handler === undefined
      ? {}
      : { [asDocumented ? 'errorHandler' : 'errorhandler']: toStep(request, step.handler, depth, expanded) };
  switch (step.kind) {
    case 'exec':
      return { exec: step.text, ...described, ...handled };
    case 'script':
      return { script: asDocumented ? 'true' : step.text, ...described, ...handled };
    case 'plugin':
      return { type: step.text, nodeStep: step.nodeStep, ...described, ...handled };
    case 'jobref':
      return { ...toReference(request, step, depth, expanded), ...described, ...handled };
  }
}

function toReference(request: ApiRequest, step: Step, depth: number, expanded: Set<string>) {
  const { asDocumented } = request.world.release;
  const job = request.world.jobs.get(step.text);
  const key = asDocumented ? 'jobRef' : 'jobref';
  if (job === undefined) return { [key]: { group: '', name: 'missing', nodeStep: String(step.nodeStep) } };
  const { name, group = '' } = job.definition;
  const target = { group, name, uuid: job.id, nodeStep: asDocumented ? step.nodeStep : String(step.nodeStep) };
  if (depth >= 3 || expanded.has(job.id)) return { [key]: target, jobId: job.id };
  expanded.add(job.id);
  return { [key]: target, jobId: job.id, workflow: toSteps(request, job, depth + 1, expanded) };
}
