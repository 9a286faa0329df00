import type { Api } from '../api/client.ts';
import { type Job, jobInfo, projectJobs } from '../api/endpoints/jobs.ts';
import { ApiError, isUnaskable } from '../api/errors.ts';
import { toJobPath } from '../domain/job.ts';
import { info, newestGauge } from '../metrics/family.ts';
import { defineProjectCollector, type ProjectToAsk, type Watch } from '../schedule/collector.ts';

type JobFacts = Job & { averageDurationMs: number | undefined };

export const jobInfoCollector = defineProjectCollector({
  name: 'job-info',
  help: 'Job ids and whether jobs are scheduled and enabled; average durations of jobs that have not run for an hour. Includes at most as many jobs as can have their own durations; scheduled jobs come first',
  every: '15m',
  on: true,
  reads: [projectJobs, jobInfo],
  metrics: {
    job: info(
      'automation_job_info',
      'A job: its id, and whether it is scheduled and enabled [project/jobs].',
      'project',
      'job_group',
      'job_name',
      'job_id',
      'scheduled',
      'enabled',
      'schedule_enabled',
    ),
    average: newestGauge(
      'automation_job_average_duration_seconds',
      'Average duration of a job as reported by the server; absent until the job has run [job/info averageDuration].',
      'project',
      'job_group',
      'job_name',
    ),
  },
  covers: (_project, { jobs }) => jobs.detail > 0,
  fetch: readJobs,
  map: (jobs, metrics, { project }) =>
    jobs.flatMap(({ id, name, group, isScheduled, isEnabled, isScheduleEnabled, averageDurationMs }) => [
      ...metrics.job.rows({
        project,
        job_group: group,
        job_name: name,
        job_id: id,
        scheduled: isScheduled?.toString(),
        enabled: isEnabled?.toString(),
        schedule_enabled: isScheduleEnabled?.toString(),
      }),
      ...metrics.average.rows(averageDurationMs === undefined ? undefined : averageDurationMs / 1000, {
        project,
        job_group: group,
        job_name: name,
      }),
    ]),
});

async function readJobs(api: Api, project: ProjectToAsk, watch: Watch): Promise<JobFacts[]> {
  const list = await api.get(projectJobs, { path: { project: project.name } });
  const wanted = list.filter((job) => watch.jobs.isWanted(toJobPath({ ...job, project: project.name })));
  project.needs.set(project.name, wanted.length);
  const chosen = wanted.toSorted(byImportance).slice(0, toShare(watch.jobs.detail, project));
  const asksForAverages = watch.jobs.asksForAverages === true && (await api.supports(jobInfo));
  await refreshAverages(api, { project: project.name, list }, watch);
  const facts: JobFacts[] = [];
  for (const job of chosen) {
    facts.push({ ...job, averageDurationMs: asksForAverages ? await readAverage(api, job.id) : undefined });
  }
  return facts;
}

/** Divides a limit evenly among projects. Other projects get what a project does not need; an unread project keeps its share. */
function toShare(limit: number, { needs }: ProjectToAsk): number {
  const known = [...needs.values()].map((need = limit / needs.size) => need).toSorted((one, other) => one - other);
  let left = limit;
  for (const [index, need] of known.entries()) {
    const part = left / (known.length - index);
    if (need > part) return Math.ceil(part);
    left -= need;
  }
  return limit;
}

/** Requests averages again. If a job runs as a step of another job, its average changes without a counted execution. */
async function refreshAverages(
  api: Api,
  { project, list }: { project: string; list: readonly Job[] },
  { jobs: { averages } }: Watch,
): Promise<void> {
  if (averages === undefined || !(await api.supports(jobInfo))) return;
  const due = new Set(averages.takeDue(project));
  for (const { id, group, name } of list.filter((job) => due.has(job.id))) {
    const averageMs = await readAverage(api, id);
    if (averageMs !== undefined) await averages.learn({ project, group, name }, averageMs);
  }
}

/** Requests an average. Jobs that are gone, unreadable or without a usable id have no average. */
async function readAverage(api: Api, id: string): Promise<number | undefined> {
  try {
    return (await api.get(jobInfo, { path: { id } })).averageDurationMs;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (isUnaskable(error) || jobCodes.includes(error.details.errorCode ?? '')) return undefined;
    throw error;
  }
}

const jobCodes: readonly string[] = ['api.error.item.doesnotexist', 'api.error.item.unauthorized'];

/** Sorts scheduled jobs first, then by group and name. The order of the server has no meaning. */
function byImportance(one: Job, other: Job): number {
  return (
    Number(other.isScheduled ?? false) - Number(one.isScheduled ?? false) ||
    compare(one.group, other.group) ||
    compare(one.name, other.name) ||
    compare(one.id, other.id)
  );
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
