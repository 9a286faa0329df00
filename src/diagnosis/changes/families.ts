import { counter, newestGauge } from '../../metrics/family.ts';

export const changeFamilies = {
  changes: counter(
    'automation_changes_total',
    'Changes detected by the exporter: of jobs, keys, nodes and projects, of runs compared with the last success, and of the server, where `project` is empty [comparison of answers].',
    'project',
    'kind',
  ),
  commonCause: newestGauge(
    'automation_common_cause',
    'Is 1 while most of the jobs that failed in the last 15 minutes share this cause, and successful jobs do not [project/*/executions].',
    'kind',
    'subject',
  ),
  jobOfCause: newestGauge(
    'automation_job_common_cause',
    'Is 1 for each job whose last run failed for the cause in automation_common_cause; absent otherwise [project/*/executions].',
    'project',
    'job_group',
    'job_name',
  ),
};
