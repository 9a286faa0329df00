import { type Job, projectJobs } from '../api/endpoints/jobs.ts';
import { toJobPath } from '../domain/job.ts';
import { gauge } from '../metrics/family.ts';
import { defineProjectCollector } from '../schedule/collector.ts';

export const projectJobsCollector = defineProjectCollector({
  name: 'project-jobs',
  help: 'Jobs of each project: scheduled or not, enabled or not',
  every: '10m',
  on: true,
  reads: [projectJobs],
  metrics: {
    jobs: gauge(
      'automation_project_jobs',
      'Watched jobs of a project; enabled and schedule_enabled are empty before API v17 [project/jobs].',
      'project',
      'scheduled',
      'enabled',
      'schedule_enabled',
    ),
  },
  fetch: (api, { name }) => api.get(projectJobs, { path: { project: name } }),
  map: (list, { jobs }, { project, watch }) => {
    const wanted = list.filter((job) => watch.jobs.isWanted(toJobPath({ ...job, project })));
    return [...countSwitches(wanted).values()].flatMap(({ count, ...switches }) =>
      jobs.rows(count, { project, ...switches }),
    );
  },
});

type Switches = { scheduled: string; enabled: string; schedule_enabled: string };

/** Counts jobs by their switches. A project without jobs has a 0 with unknown switches. */
function countSwitches(list: readonly Job[]): ReadonlyMap<string, Switches & { count: number }> {
  const counts = new Map<string, Switches & { count: number }>();
  if (list.length === 0) counts.set('', { scheduled: '', enabled: '', schedule_enabled: '', count: 0 });
  for (const { isScheduled, isEnabled, isScheduleEnabled } of list) {
    const switches = {
      scheduled: toWord(isScheduled),
      enabled: toWord(isEnabled),
      schedule_enabled: toWord(isScheduleEnabled),
    };
    const key = Object.values(switches).join(' ');
    counts.set(key, { ...switches, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return counts;
}

function toWord(value: boolean | undefined): string {
  return value?.toString() ?? '';
}
