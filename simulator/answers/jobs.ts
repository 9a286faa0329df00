import { accelerate, countBetween, nextTime, timesBetween } from '../engine/schedule.ts';
import { averageDuration, type Job, maySchedule } from '../world/installation.ts';
import { isAnswer, mayReadJob, openJob, openProject } from './access.ts';
import { type Answer, type ApiRequest, badParameter, href, ok, parameter, permalink } from './answer.ts';
import { afterNow, beforeNow, toObjectDate } from './dates.ts';

/** project/{project}/jobs (API reference, "Job summary" and "Jobs"). */
export function jobList(request: ApiRequest): Answer {
  const project = openProject(request);
  if (isAnswer(project)) return project;
  const jobs = [...project.jobs.values()].filter((job) => mayReadJob(request, job));
  return ok(jobs.map((job) => toJob(request, job)));
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
  return ok({ ...toJob(request, job), ...toTiming(request, job) });
}

function toJob(request: ApiRequest, job: Job) {
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

/** Returns the owner, only in a cluster. From v18 on, the owner also exists without a schedule. */
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

/** job/{id}/forecast (API reference, "Jobs"), even while passive; `max` is applied after all times are listed. */
export function jobForecast(request: ApiRequest): Answer {
  const job = openJob(request);
  if (isAnswer(job)) return job;
  const { world, query, nowMs, version } = request;
  const time = query.get('time') ?? '1d';
  // Only the word `true` switches the parameter `past` on.
  const past = query.get('past') === 'true' && version >= 32;
  const otherEnd = past ? beforeNow(time, nowMs) : afterNow(time, nowMs);
  if (otherEnd === undefined) return badParameter(request, 'api.error.parameter.invalid', 'time', time);
  const newest = version >= 48;
  const more = newest
    ? {
        projectDisableExecutions: !job.project.executionsEnabled,
        projectDisableSchedule: !job.project.scheduleEnabled,
        averageDuration: averageDuration(job),
      }
    : {};
  const { schedule } = job.definition;
  if (schedule === undefined || !maySchedule(job)) return ok({ ...toJob(request, job), ...more });
  const max = Number(query.get('max') ?? 0);
  const limit = max > 0 ? max : 10_000;
  const [fromMs, toMs] = past ? [otherEnd, nowMs] : [nowMs, otherEnd];
  const played = accelerate(schedule, world.speed);
  const times = timesBetween(played, fromMs, toMs, limit);
  // Newer releases append one-time runs at any time, even to past times.
  const ordered = newest ? oneTimeRuns(request, job) : [];
  const futureScheduledExecutions = [...times, ...ordered].map((timeMs) => toObjectDate(timeMs, world.release));
  return {
    ...ok({ ...toJob(request, job), ...more, futureScheduledExecutions }),
    listed: countBetween(played, fromMs, toMs),
  };
}

function oneTimeRuns({ nowMs }: ApiRequest, { id, project }: Job): number[] {
  return [...project.open.values()].flatMap(({ job, oneTime, startedAtMs, skewMs }) =>
    job?.id === id && oneTime && startedAtMs + skewMs > nowMs ? [startedAtMs + skewMs] : [],
  );
}
