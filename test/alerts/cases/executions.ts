import { type Case, counter, gauge } from './case.ts';

const job = 'server="prod",project="pay",job_group="nightly",job_name="settle"';
const ofJob = {
  dashboard: '/d/automation-job?var-server=prod&var-project=pay&var-group=nightly&var-job=settle',
  page: '/jobs/prod/pay/nightly/settle',
};
const jobLabels = { server: 'prod', project: 'pay', job_group: 'nightly', job_name: 'settle', severity: 'warning' };
const ended = 'automation_project_executions_total{server="prod",project="pay",trigger="scheduled",status=';
const page = 'http://localhost:9720/executions/prod/642';

export const executionCases: readonly Case[] = [
  {
    alert: 'AutomationCommonCause',
    series: { 'automation_common_cause{server="prod",kind="node",subject="db03"}': gauge(0, 1) },
    below: { 'automation_common_cause{server="prod",kind="node",subject="db03"}': gauge(0) },
    firesAfter: 0,
    labels: { server: 'prod', kind: 'node', subject: 'db03', node: 'db03', severity: 'critical' },
    summary: 'Many jobs fail for one cause: node db03',
    description:
      'Most jobs that failed on prod in the last 15 minutes share the node db03; jobs that succeeded do not.',
    dashboard: '/d/automation-executions?var-server=prod',
    page: '/executions?result=failures&server=prod',
  },
  {
    alert: 'AutomationJobFailingRepeatedly',
    series: {
      [`automation_job_consecutive_failures{${job}}`]: gauge(0, 3),
      [`automation_job_last_failed_execution_id{${job}}`]: gauge(600, 642),
    },
    below: { [`automation_job_consecutive_failures{${job}}`]: gauge(0, 2) },
    firesAfter: 0,
    labels: jobLabels,
    summary: 'Job pay/nightly/settle keeps failing',
    description: `pay/nightly/settle on prod keeps failing; failures in a row: 3. Last failed: #642 (${page}).`,
    ...ofJob,
  },
  {
    alert: 'AutomationJobFailsForAccess',
    series: {
      [`automation_job_consecutive_failures{${job}}`]: gauge(0, 1),
      [`automation_job_last_failure_info{${job},class="access",new="true"}`]: gauge('none', 1),
      [`automation_job_last_failed_execution_id{${job}}`]: gauge(600, 642),
      [`automation_schedule_critical{${job}}`]: gauge(1),
      [`automation_job_owner_info{${job},owner="payments"}`]: gauge(1),
    },
    below: { [`automation_schedule_critical{${job}}`]: gauge('none') },
    firesAfter: 0,
    labels: { ...jobLabels, owner: 'payments' },
    summary: 'Job pay/nightly/settle is refused',
    description: `pay/nightly/settle on prod failed because a key, a password or a right is refused; failures in a row: 1. Last failed: #642 (${page}).`,
    ...ofJob,
  },
  {
    alert: 'AutomationJobFailsForTarget',
    series: {
      [`automation_job_consecutive_failures{${job}}`]: gauge(0, 1),
      [`automation_job_last_failure_info{${job},class="target",new="true"}`]: gauge('none', 1),
      [`automation_job_last_failed_execution_id{${job}}`]: gauge(600, 642),
      [`automation_schedule_critical{${job}}`]: gauge(1),
    },
    below: { [`automation_schedule_critical{${job}}`]: gauge('none') },
    firesAfter: 0,
    labels: jobLabels,
    summary: 'Job pay/nightly/settle cannot reach its node',
    description: `pay/nightly/settle on prod failed because a node cannot be reached; failures in a row: 1. Last failed: #642 (${page}).`,
    ...ofJob,
  },
  {
    alert: 'AutomationJobNoRecentSuccess',
    series: {
      [`automation_job_last_success_timestamp_seconds{${job}}`]: gauge(100_000, 1),
      [`automation_job_last_end_timestamp_seconds{${job}}`]: gauge(100_000),
      [`automation_job_success_age_limit_seconds{${job}}`]: gauge(600),
    },
    below: { [`automation_job_last_success_timestamp_seconds{${job}}`]: gauge(100_000, 1500) },
    firesAfter: 5.5,
    labels: jobLabels,
    summary: 'Job pay/nightly/settle has not succeeded for too long',
    description: 'pay/nightly/settle on prod last succeeded 15m 29s ago, which exceeds its success_age.',
    ...ofJob,
  },
  {
    alert: 'AutomationExecutionOverdue',
    series: {
      [`automation_executions_running_overdue{${job}}`]: gauge(0, 1),
      [`automation_job_last_execution_id{${job}}`]: gauge(642),
    },
    below: { [`automation_executions_running_overdue{${job}}`]: gauge(0) },
    firesAfter: 5,
    labels: jobLabels,
    summary: 'Job pay/nightly/settle takes much longer than usual',
    description: `Executions of pay/nightly/settle on prod that have been overdue for at least 5m: 1. Overdue executions take much longer than the average of the job. The previous execution: #642 (${page}).`,
    ...ofJob,
  },
  {
    alert: 'AutomationNodeFailingEverywhere',
    series: {
      'automation_node_failures_total{server="prod",project="pay",node="pay01"}': counter(0, 0),
      'automation_node_failures_total{server="prod",project="pay",node="pay02"}': counter(0, 1),
      'automation_node_failing_jobs{server="prod",node="pay02"}': gauge(0, 2),
    },
    below: { 'automation_node_failing_jobs{server="prod",node="pay02"}': gauge('none') },
    firesAfter: 9.5,
    labels: { server: 'prod', project: 'pay', node: 'pay02', severity: 'warning' },
    summary: 'Node pay02 fails in several jobs of pay',
    description:
      'About 10 executions of pay on prod failed on the node pay02 within the last 30m, and few or none on other nodes. No job has succeeded on it since.',
    dashboard: '/d/automation-executions?var-server=prod&var-project=pay',
    page: '/executions?result=failures&server=prod&project=pay',
  },
  {
    alert: 'AutomationJobSlower',
    series: {
      [`automation_job_duration_shift_ratio{${job}}`]: gauge('none', 1.5),
      [`automation_job_duration_shift_timestamp_seconds{${job}}`]: gauge('none', 500),
      [`automation_job_last_execution_id{${job}}`]: gauge(642),
    },
    below: { [`automation_job_duration_shift_ratio{${job}}`]: gauge('none', 1.2) },
    firesAfter: 0,
    resolvesAfter: 3,
    labels: { ...jobLabels, severity: 'info' },
    summary: 'Job pay/nightly/settle has become slower',
    description: `The successful executions of pay/nightly/settle on prod take 1.5 times as long as before. The last one: #642 (${page}).`,
    ...ofJob,
  },
  {
    alert: 'AutomationErrorBudgetBurnFast',
    series: { [`${ended}"succeeded"}`]: counter(10, 0), [`${ended}"failed"}`]: counter(0, 10) },
    below: { [`${ended}"succeeded"}`]: counter(10, 7.2), [`${ended}"failed"}`]: counter(0, 2.8) },
    firesAfter: 6,
    resolvesAfter: 22,
    labels: {
      server: 'prod',
      severity: 'critical',
      sloth_id: 'automation-executions-by-server',
      sloth_service: 'automation',
      sloth_slo: 'executions-by-server',
    },
    summary: 'High failure rate on prod',
    description:
      '40.62% of the executions on prod fail. At this rate the error budget of 30 days is spent in less than five days.',
    dashboard: '/d/automation-executions?var-server=prod',
    page: '/executions?result=failures&server=prod',
  },
  {
    alert: 'AutomationErrorBudgetBurnSlow',
    series: { [`${ended}"succeeded"}`]: counter(10, 8), [`${ended}"failed"}`]: counter(0, 2) },
    below: { [`${ended}"succeeded"}`]: counter(10, 9.6), [`${ended}"failed"}`]: counter(0, 0.4) },
    firesAfter: 19.5,
    lastsMinutes: 30,
    resolvesAfter: 100,
    labels: {
      server: 'prod',
      severity: 'warning',
      sloth_id: 'automation-executions-by-server',
      sloth_service: 'automation',
      sloth_slo: 'executions-by-server',
    },
    summary: 'Too many executions on prod fail',
    description:
      '13.56% of the executions on prod fail. At this rate the error budget of 30 days is spent before 30 days are over.',
    dashboard: '/d/automation-executions?var-server=prod',
    page: '/executions?result=failures&server=prod',
  },
];
