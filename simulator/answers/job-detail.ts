import { stringify } from 'yaml';
import type { Job } from '../world/installation.ts';
import type { Step } from '../world/work.ts';
import { isAnswer, openJob } from './access.ts';
import { type Answer, type ApiRequest, denied, fail, ok, text } from './answer.ts';

/** job/{id} (API reference, "Jobs"): one definition document; JSON from v44. */
export function jobDefinition(request: ApiRequest): Answer {
  const job = openJob(request);
  if (isAnswer(job)) return job;
  if (request.caller.policy.viewedJobs.includes(job.id)) return denied(request, 'read', 'Job ID', job.id);
  const format = request.query.get('format') ?? request.accept ?? '';
  if (format.includes('json')) {
    return request.version >= 44
      ? ok([toDefinition(job)])
      : fail(request, 415, 'api.error.item.unsupported-format', [`The format is not valid: ${format}`, format]);
  }
  return text(stringify([toDefinition(job)]), 'application/yaml;charset=UTF-8');
}

function toDefinition({ id, definition, enabled, scheduleEnabled }: Job) {
  const { name, group, description, work } = definition;
  return {
    id,
    uuid: id,
    name,
    ...(group === undefined ? {} : { group }),
    description: description ?? '',
    executionEnabled: enabled,
    scheduleEnabled,
    ...(definition.multiple === true ? { multipleExecutions: true } : {}),
    ...(definition.maxMultiple === undefined ? {} : { maxMultipleExecutions: `${definition.maxMultiple}` }),
    loglevel: 'INFO',
    nodeFilterEditable: false,
    ...(work.timeoutMs === undefined ? {} : { timeout: `${Math.round(work.timeoutMs / 1000)}s` }),
    ...(definition.retry === undefined ? {} : { retry: String(definition.retry.attempts) }),
    ...(definition.schedule === undefined ? {} : { schedule: definition.schedule }),
    nodefilters: { dispatch: { keepgoing: work.keepGoing, threadcount: '1' }, filter: `name: ${work.nodes.join(',')}` },
    ...toOptions(definition),
    sequence: { keepgoing: work.keepGoing, strategy: 'node-first', commands: work.steps.map(toCommand) },
  };
}

function toOptions({ options = {}, work }: Job['definition']) {
  const keys = [...new Set(work.steps.flatMap(({ key }) => key ?? []))];
  const all = [
    ...Object.entries(options).map(([name, value]) => ({ name, value })),
    ...keys.map((storagePath, index) => ({ name: `login${index}`, secure: true, storagePath })),
  ];
  return all.length === 0 ? {} : { options: all };
}

function toCommand({ kind, text: content, handler }: Step): Readonly<Record<string, unknown>> {
  const what = kind === 'jobref' ? { jobref: { uuid: content } } : { [kind]: content };
  return handler === undefined ? what : { ...what, errorhandler: toCommand(handler) };
}

/** job/{id}/workflow (API reference, "Jobs"): referenced jobs to depth 3. Each referenced job is expanded only once. */
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
    case 'conditional': {
      const subSteps = (step.steps ?? []).map((inner) => toStep(request, inner, depth, expanded));
      return { type: 'conditional', nodeStep: false, conditionGroups: [], subSteps, ...described };
    }
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
