import { accelerate, nextTime } from '../../engine/schedule.ts';
import type { Job } from '../../world/job.ts';
import { averageDuration, maySchedule } from '../../world/job.ts';
import { isAnswer, mayReadJob, openJob, openProject } from '../access.ts';
import type { Answer, ApiRequest } from '../answer.ts';
import { ok } from '../answer.ts';
import { toObjectDate } from '../dates.ts';
import { isInGroup } from './job-filter.ts';

/** job/{id}/meta (API reference, "Jobs", v46). */
export function jobMeta(request: ApiRequest): Answer {
  const job = openJob(request);
  return isAnswer(job) ? job : ok(toMeta(request, job, request.query.get('meta') ?? '*'));
}

/**
 * project/{project}/jobs/browse (API reference, "Endpoints named only in the change log"; its fields are read in
 * servers).
 */
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
