import { endings } from '../../domain/execution.ts';
import { counter, earliestGauge, gauge, histogram, info, newestGauge, stateSet } from '../../metrics/family.ts';

const job = ['project', 'job_group', 'job_name'] as const;

export const executionFamilies = {
  running: gauge(
    'automation_executions_running',
    'Running executions; ad hoc executions have empty job labels, and a project without running executions has a 0 [project/*/executions/running].',
    ...job,
  ),
  oldestStart: earliestGauge(
    'automation_executions_running_oldest_start_timestamp_seconds',
    'Start time of the oldest running execution [project/*/executions/running].',
    ...job,
  ),
  overdue: gauge(
    'automation_executions_running_overdue',
    'Executions that have been running longer than a multiple of the average duration of their job [project/*/executions/running].',
    ...job,
  ),
  queued: gauge(
    'automation_executions_queued',
    'Executions that wait for their scheduled time or for a free slot [project/*/executions/running].',
    'project',
    'status',
  ),
  total: counter(
    'automation_executions_total',
    'Finished executions, each counted once [project/*/executions].',
    ...job,
    'status',
  ),
  projectTotal: counter(
    'automation_project_executions_total',
    'Finished executions by trigger: user, scheduled, user-scheduled, webhook, other [executionType].',
    'project',
    'trigger',
    'status',
  ),
  failures: counter(
    'automation_execution_failures_total',
    'Failed executions by the class of the first cause, each counted once; requires diagnosis.enabled [execution/*/state].',
    ...job,
    'class',
  ),
  lastFailure: info(
    'automation_job_last_failure_info',
    'Class of the last execution of a job, if it failed; new is true if no earlier failure of the job had similar lines, and unknown if no lines were read; requires diagnosis.enabled [execution/*/state].',
    ...job,
    'class',
    'new',
  ),
  duration: histogram(
    'automation_execution_duration_seconds',
    'Durations of finished executions; jobs without their own durations are __other__ [project/*/executions].',
    ...job,
    'status',
  ),
  nodes: counter(
    'automation_execution_nodes_total',
    'Nodes that finished executions ran on, by result [successfulNodes, failedNodes].',
    ...job,
    'result',
  ),
  nodeFailures: counter(
    'automation_node_failures_total',
    'Executions that failed on a node [failedNodes].',
    'project',
    'node',
  ),
  averageDuration: newestGauge(
    'automation_job_average_duration_seconds',
    'Average duration of a job as reported by the server [job.averageDuration].',
    ...job,
  ),
  lastStart: newestGauge(
    'automation_job_last_start_timestamp_seconds',
    'Latest start time of the finished executions of a job [project/*/executions].',
    ...job,
  ),
  lastEnd: newestGauge(
    'automation_job_last_end_timestamp_seconds',
    'End time of the last finished execution of a job [project/*/executions].',
    ...job,
  ),
  lastSuccess: newestGauge(
    'automation_job_last_success_timestamp_seconds',
    'End time of the last successful execution of a job [project/*/executions].',
    ...job,
  ),
  lastDuration: newestGauge(
    'automation_job_last_duration_seconds',
    'Duration of the last finished execution of a job [project/*/executions].',
    ...job,
  ),
  durationShift: newestGauge(
    'automation_job_duration_shift_ratio',
    'Median duration of the successful executions of a job since the latest lasting change, divided by the median before this change; absent without such a change [project/*/executions].',
    ...job,
  ),
  durationShiftSince: newestGauge(
    'automation_job_duration_shift_timestamp_seconds',
    'Start of the latest lasting change in the duration of a job [project/*/executions].',
    ...job,
  ),
  flaky: newestGauge(
    'automation_job_flaky',
    'Is 1 for a job with changing results: four changes in twenty executions, or three successes only after a retry; ends after ten clean executions [project/*/executions].',
    ...job,
  ),
  lastId: newestGauge(
    'automation_job_last_execution_id',
    'Id of the last finished execution of a job, as the value [project/*/executions].',
    ...job,
  ),
  lastFailedId: newestGauge(
    'automation_job_last_failed_execution_id',
    'Id of the last failed execution of a job, as the value [project/*/executions].',
    ...job,
  ),
  lastStatus: stateSet(
    'automation_job_last_status',
    'Status of the last finished execution of a job [project/*/executions].',
    { label: 'status', states: endings },
    ...job,
  ),
  consecutiveFailures: newestGauge(
    'automation_job_consecutive_failures',
    'Failed executions of a job since its last success; retried attempts and aborted executions are not counted [project/*/executions].',
    ...job,
  ),
  successAgeLimit: newestGauge(
    'automation_job_success_age_limit_seconds',
    'Configured maximum age of the last success of a job [jobs.overrides].',
    ...job,
  ),
  owner: info('automation_job_owner_info', 'Configured owner of a job [jobs.overrides].', ...job, 'owner'),
  hidden: gauge(
    'automation_exporter_executions_hidden',
    'Executions within at most the last day that the server counts but does not show to these credentials [paging.total].',
    'project',
  ),
  pipelineDuration: {
    ...histogram(
      'cicd_pipeline_run_duration_seconds',
      'Durations of finished executions of jobs, under the OpenTelemetry name; requires metrics.cicd [project/*/executions].',
      'cicd_pipeline_name',
      'cicd_pipeline_run_state',
      'cicd_pipeline_result',
      'error_type',
    ),
    bucketsFrom: 'automation_execution_duration_seconds',
  },
  pipelineActive: gauge(
    'cicd_pipeline_run_active',
    'Executions of jobs that are running (executing) or waiting (pending), under the OpenTelemetry name; requires metrics.cicd [project/*/executions/running].',
    'cicd_pipeline_name',
    'cicd_pipeline_run_state',
  ),
  pipelineErrors: counter(
    'cicd_pipeline_run_errors_total',
    'Failed executions of jobs, under the OpenTelemetry name; requires metrics.cicd [project/*/executions].',
    'cicd_pipeline_name',
    'error_type',
  ),
} as const;
