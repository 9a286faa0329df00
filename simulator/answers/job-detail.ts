import { stringify } from 'yaml';
import { accelerate, nextTime } from '../engine/schedule.ts';
import { averageDuration, type Job, maySchedule } from '../world/installation.ts';
import type { Step } from '../world/work.ts';
import { isAnswer, mayReadJob, openJob, openProject } from './access.ts';
import { type Answer, type ApiRequest, denied, fail, ok, text } from './answer.ts';
import { toObjectDate } from './dates.ts';
import { isInGroup } from './jobs.ts';

/** job/{id}/meta (API reference, "Jobs", v46). */
export function jobMeta(request: ApiRequest): Answer {
  const job = openJob(request);
  return isAnswer(job) ? job : ok(toMeta(request, job, request.query.get('meta') ?? '*'));
}

/** project/{project}/jobs/browse (API reference, "Endpoints named only in the change log"; its fields are read in servers). */
export function browseJobs(request: ApiRequest): Answer {
  const project = openProject(request);
  if (isAnswer(project)) return project;
  const path = request.query.get('path') ?? '';
  const wanted = request.query.get('meta') ?? '';
  const readable = [...project.jobs.values()].filter((job) => mayReadJob(request, job));
  const folders = new Set<string>();
  for (const job of readable) {
    const group = job.definition.group ?? '';
    if (group !== path && isInGroup(group, path === '' ? '*' : path)) {
      const rest = path === '' ? group : group.slice(path.length + 1);
      folders.add(path === '' ? (rest.split('/')[0] ?? '') : `${path}/${rest.split('/')[0] ?? ''}`);
    }
  }
  const items = readable
    .filter((job) => (job.definition.group ?? '') === path)
    .map((job) => ({
      job: true,
      groupPath: path,
      jobName: job.definition.name,
      id: job.id,
      description: job.definition.description ?? '',
      ...(wanted === '' ? {} : { meta: toMeta(request, job, wanted) }),
    }));
  const groups = [...folders].sort().map((groupPath) => ({ job: false, groupPath }));
  return ok({ path, items: [...groups, ...items] });
}

function toMeta({ world, nowMs }: ApiRequest, job: Job, wanted: string) {
  const names = wanted.split(',');
  const { schedule } = job.definition;
  const { count, succeeded } = job.statistics;
  const next =
    schedule === undefined || !maySchedule(job) ? undefined : nextTime(accelerate(schedule, world.speed), nowMs);
  const data = {
    schedule: {
      scheduleEnabled: job.scheduleEnabled,
      executionEnabled: job.enabled,
      hasSchedule: schedule !== undefined,
      serverNodeUUID: world.members.length > 1 ? (job.owner?.uuid ?? null) : null,
      ...(next === undefined ? {} : { nextExecutionTime: toObjectDate(next, world.release) }),
    },
    stats: {
      averageDuration: averageDuration(job),
      executionCount: count,
      successRate: count === 0 ? null : succeeded / count,
    },
  };
  return Object.entries(data)
    .filter(([name]) => names.includes(name) || names.includes('*'))
    .map(([name, value]) => ({ name, data: value }));
}

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
    sequence: { keepgoing: work.keepGoing, strategy: 'node-first', commands: work.steps.map(toCommand) },
  };
}

function toCommand(step: Step) {
  return step.kind === 'exec' ? { exec: step.text } : { [step.kind]: step.text };
}

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
