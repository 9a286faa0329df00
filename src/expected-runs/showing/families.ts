import { counter, earliestGauge, gauge, histogram, newestGauge } from '../../metrics/family.ts';

const job = ['project', 'job_group', 'job_name'] as const;

export const scheduleFamilies = {
  nextRun: earliestGauge(
    'automation_job_next_run_timestamp_seconds',
    'Next start of a job by its schedule, even while the server or the project is switched off; absent for a job that is off [job/forecast, before v31 job/info].',
    ...job,
  ),
  missed: counter(
    'automation_schedule_missed_total',
    'Expected times at which the schedule did not start the job, by cause [job/forecast, project/*/executions].',
    ...job,
    'reason',
  ),
  delay: histogram(
    'automation_schedule_delay_seconds',
    'Time from the expected to the actual start of scheduled runs; the count is the number of runs that started [job/forecast, project/*/executions].',
    'project',
  ),
  undecided: counter(
    'automation_schedule_undecided_total',
    'Scheduled runs of which it is unknown whether they started, for example because the schedule was edited or executions could not be read [job/forecast, project/*/executions].',
    'project',
  ),
  lastMissed: newestGauge(
    'automation_job_last_missed_timestamp_seconds',
    'Last expected time at which the schedule did not start the job [job/forecast, project/*/executions].',
    ...job,
  ),
  critical: newestGauge(
    'automation_schedule_critical',
    'Is 1 for each scheduled job whose missed runs are critical by configuration; absent for other jobs [jobs.overrides].',
    ...job,
  ),
  atRisk: gauge(
    'automation_schedule_at_risk_runs',
    'Expected runs within the horizon that are at risk, by reason; a run with two reasons counts for both. Absent for a reason that cannot be known [job/forecast, project/*/executions, system/info].',
    'reason',
    'horizon',
  ),
  nextAtRisk: newestGauge(
    'automation_job_next_run_at_risk',
    'Is 1 while the next run of a job within 12 h is at risk, by reason; absent otherwise [job/forecast, project/*/executions, system/info].',
    ...job,
    'reason',
  ),
  failingOnNode: gauge(
    'automation_node_failing_jobs',
    'Jobs that have begun to fail on a node since any job last succeeded on this node, at most 10; absent for fewer than two [project/*/executions].',
    'node',
  ),
  disabledSince: earliestGauge(
    'automation_job_disabled_since_timestamp_seconds',
    'Time since which the exporter has seen a scheduled job, or its schedule, switched off; absent while both are on [project/jobs].',
    ...job,
    'what',
  ),
  expectedRunning: gauge(
    'automation_scheduler_expected_running',
    'Peak number of concurrent runs expected within the horizon, including current ones [job/forecast].',
    'horizon',
  ),
  expectedSaturation: gauge(
    'automation_scheduler_expected_saturation_timestamp_seconds',
    'First time within a day at which more concurrent runs are expected than the scheduler has threads; absent if no such time is expected [job/forecast, system/info].',
  ),
} as const;
