import { jobDefinition, jobForecast, jobInfo, projectJobs } from '../api/endpoints/jobs.ts';
import { scheduleFamilies } from '../expected-runs/showing/families.ts';
import type { ExpectedRunsCollector } from '../schedule/collector.ts';

/** Compares the runs of jobs with their schedules. */
export const scheduleCollector: ExpectedRunsCollector = {
  kind: 'expected-runs',
  name: 'schedule',
  help: 'Scheduled runs that did not happen, and why; delays, next runs, and how many runs to expect at once. Requires the collector executions',
  every: '1m',
  on: true,
  vital: false,
  perMember: false,
  maxSeries: 50_000,
  reads: [projectJobs, jobForecast, jobInfo, jobDefinition],
  metrics: scheduleFamilies,
};
