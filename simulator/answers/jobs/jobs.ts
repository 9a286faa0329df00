import { accelerate, nextTime } from '../../engine/schedule.ts';
import type { Job } from '../../world/job.ts';
import { averageDuration, maySchedule } from '../../world/job.ts';
import { isAnswer, mayReadJob, openJob, openProject } from '../access.ts';
import type { Answer, ApiRequest } from '../answer.ts';
import { href, ok, parameter, permalink } from '../answer.ts';
import { toObjectDate } from '../dates.ts';
import { badParameter, fail } from '../errors.ts';
import { toJobFilter } from './job-filter.ts';

/** project/{project}/jobs (API reference, "Job summary" and "Jobs"); a page is cut before the access check. */
export function jobList(request: ApiRequest): Answer {
  const project = openProject(request);
  if (isAnswer(project)) return project;
  for (const [name, since] of filterGates) {
    if (request.query.has(name) && request.version < since) {
      return badParameter(request, 'api.error.parameter.error', name, request.query.get(name) ?? '');
    }
  }
  const matching = [...project.jobs.values()].filter(toJobFilter(request.query));
  const max = Number(request.query.get('max') ?? 0) || matching.length;
  const offset = Number(request.query.get('offset') ?? 0) || 0;
  const page = matching.slice(offset, offset + max).filter((job) => mayReadJob(request, job));
  return ok(page.map((job) => toJob(request, job)));
}

/** scheduler/jobs and scheduler/server/{uuid}/jobs (API reference, "Cluster schedule"): across all projects. */
export function scheduledJobs(request: ApiRequest): Answer {
  const { world, member } = request;
  const uuid = parameter(request, 'uuid') || member.uuid;
  const jobs = [...world.jobs.values()].filter(
    (job) => job.owner?.uuid === uuid && !job.project.deleted && mayReadJob(request, job),
  );
  return ok(jobs.map((job) => toJob(request, job)));
}

/** job/{id}/info (API reference, "Job metadata"). */
export function jobInfo(request: ApiRequest): Answer {
  const job = openJob(request);
  if (isAnswer(job)) return job;
  if (request.accept !== undefined && !/json|xml|\*\/\*/.test(request.accept)) {
    return fail(request, 415, 'api.error.item.unsupported-format', `The format is not valid: ${request.accept}`);
  }
  return ok({ ...toJob(request, job), ...toTiming(request, job) });
}

export function toJob(request: ApiRequest, job: Job) {
  const { definition, project } = job;
  const { version, world } = request;
  const isScheduled = definition.schedule !== undefined;
  const created = toObjectDate(job.createdAtMs, world.release);
  const lastModified = toObjectDate(job.modifiedAtMs, world.release);
  return {
    id: job.id,
    name: definition.name,
    group: definition.group ?? null,
    project: project.name,
    description: definition.description ?? '',
    href: href(request, `job/${job.id}`),
    permalink: permalink(request, `project/${encodeURIComponent(project.name)}/job/show/${job.id}`),
    ...(version >= 17 ? { scheduled: isScheduled, scheduleEnabled: job.scheduleEnabled, enabled: job.enabled } : {}),
    ...toOwner(request, job),
    ...(version >= 56 ? { created, createdBy: 'admin', lastModified, lastModifiedBy: 'admin' } : {}),
  };
}

const filterGates: readonly (readonly [string, number])[] = [
  ['scheduledFilter', 17],
  ['serverNodeUUIDFilter', 17],
  ['scheduleEnabledFilter', 18],
  ['executionEnabledFilter', 18],
];

/** Only in a cluster; from v18 on, jobs without a schedule say too that the serving member does not own them. */
function toOwner({ version, world, member }: ApiRequest, { owner }: Job) {
  if (world.members.length === 1 || version < (owner === undefined ? 18 : 17)) return {};
  return { ...(owner === undefined ? {} : { serverNodeUUID: owner.uuid }), serverOwner: owner === member };
}

function toTiming({ world, nowMs }: ApiRequest, job: Job) {
  const average = averageDuration(job);
  const { schedule } = job.definition;
  const next =
    schedule === undefined || !maySchedule(job) ? undefined : nextTime(accelerate(schedule, world.speed), nowMs);
  return {
    ...(average === 0 ? {} : { averageDuration: average }),
    ...(next === undefined ? {} : { nextScheduledExecution: toObjectDate(next, world.release) }),
  };
}
