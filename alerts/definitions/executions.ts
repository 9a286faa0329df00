import type { Alert } from '../alert.ts';
import { createExpressions } from '../expressions.ts';
import { dashboardOf, executionText, jobText, pageOf } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';

/** Do jobs succeed, and do executions end? */
export function executionAlerts(limits: Thresholds): Alert[] {
  return [
    commonCause(limits),
    failingRepeatedly(limits),
    failsFor('access', limits),
    failsFor('target', limits),
    noRecentSuccess(limits),
    overdue(limits),
    nodeFailingEverywhere(limits),
  ];
}

/** Alerts over windows of hours: evaluating them every few minutes is enough. */
export function slowExecutionAlerts(limits: Thresholds): Alert[] {
  return [slower(limits)];
}

const jobOfServer = `${jobText} on {{ $labels.server }}`;
const nodeAlert = 'AutomationNodeFailingEverywhere';
const lastFailedId = 'automation_job_last_failed_execution_id';

function commonCause(limits: Thresholds): Alert {
  const { newest } = createExpressions(limits);
  return {
    alert: 'AutomationCommonCause',
    expr: `${newest('automation_common_cause')} == 1`,
    for: '0s',
    severity: 'critical',
    // Other alerts have the same labels, so that inhibition rules can silence them.
    labels: { project: subjectOf('project'), node: subjectOf('node') },
    summary: 'Many jobs fail for one cause: {{ $labels.kind }} {{ $labels.subject }}',
    description: `Most jobs that failed on {{ $labels.server }} in the last 15 minutes share the {{ $labels.kind }} {{ $labels.subject }}; jobs that succeeded do not.`,
    dashboard: dashboardOf.project,
    page: pageOf.failures,
    needs: ['changes'],
  };
}

/** The subject of a common cause, if the cause is of this kind. */
function subjectOf(kind: string): string {
  return `{{ if eq $labels.kind "${kind}" }}{{ $labels.subject }}{{ end }}`;
}

/** Excludes jobs whose failures have a common cause, because the alert about this cause replaces their alerts. */
function unlessShared(limits: Thresholds): string {
  if (limits.off.includes('AutomationCommonCause')) return '';
  return `\nunless on (job, cluster, server, project, job_group, job_name)\n  ${createExpressions(limits).newest('automation_job_common_cause')}`;
}

function failingRepeatedly(limits: Thresholds): Alert {
  const { newest, unlessBehind, unlessDown } = createExpressions(limits);
  const alert = 'AutomationJobFailingRepeatedly';
  const failing = `${newest('automation_job_consecutive_failures')} >= ${limits.jobConsecutiveFailures}`;
  // A node that fails for all jobs has its own alert, which fires later. Until then, an alert about a job stays if it already fires.
  const fires = `${failing}\nand on (job, cluster, server, project, job_group, job_name)\n  ALERTS{alertname="${alert}",alertstate="firing"}`;
  const ofJob = limits.off.includes(nodeAlert)
    ? failing
    : `(\n${failing}\nunless on (job, cluster, server, project) (\n${brokenNode(limits)}\n)\nor\n${fires}\n)`;
  return {
    alert,
    expr: `${ofJob}\n${unlessDown}\n${toUnlessNodeTold(limits)}${unlessShared(limits)}\n${unlessBehind}`,
    for: limits.jobFailingFor,
    severity: 'warning',
    summary: `Job ${jobText} keeps failing`,
    description: `${jobOfServer} keeps failing; failures in a row: {{ $value }}.${executionText('Last failed', lastFailedId, limits)}`,
    dashboard: dashboardOf.job,
    page: pageOf.job,
    needs: ['executions'],
  };
}

/** After a node has recovered, its jobs still count as failing until each of them has run again. */
function toUnlessNodeTold(limits: Thresholds): string {
  const lastEnd = createExpressions(limits).newest('automation_job_last_end_timestamp_seconds');
  const told = `timestamp(ALERTS{alertname="${nodeAlert}",alertstate="firing"})[${limits.nodeToldWindow}:1m]`;
  return `unless on (job, cluster, server, project, job_group, job_name) (\n  ${lastEnd}\n  <= on (job, cluster, server, project) group_left ()\n  max by (job, cluster, server, project) (max_over_time(${told}))\n)`;
}

const causes = {
  access: {
    alert: 'AutomationJobFailsForAccess',
    summary: `Job ${jobText} is refused`,
    cause: 'because a key, a password or a right is refused',
  },
  target: {
    alert: 'AutomationJobFailsForTarget',
    summary: `Job ${jobText} cannot reach its node`,
    cause: 'because a node cannot be reached',
  },
} as const;

/** Fires for certain causes, after two failures or one failure of a critical job. */
function failsFor(failureClass: keyof typeof causes, limits: Thresholds): Alert {
  const { newest, once, unlessBehind, unlessDown } = createExpressions(limits);
  const { alert, summary, cause } = causes[failureClass];
  const failures = newest('automation_job_consecutive_failures');
  const last = `max without (class, new) (${once(`last_over_time(automation_job_last_failure_info{class="${failureClass}"}[${limits.gapWindow}])`)})`;
  const critical = newest('automation_schedule_critical');
  const on = 'on (job, cluster, server, project, job_group, job_name)';
  return {
    alert,
    expr: `(\n  ${failures} >= ${limits.jobFailuresOfCause}\n  or\n  ${failures} > 0 and ${on} ${critical}\n)\nand ${on} ${last}\n${unlessDown}${unlessShared(limits)}\n${unlessBehind}`,
    for: limits.jobFailingFor,
    severity: 'warning',
    summary,
    description: `${jobOfServer} failed ${cause}; failures in a row: {{ $value }}.${executionText('Last failed', lastFailedId, limits)}`,
    dashboard: dashboardOf.job,
    page: pageOf.job,
    needs: ['executions'],
  };
}

function noRecentSuccess(limits: Thresholds): Alert {
  const { newest, unlessBehind, unlessDown } = createExpressions(limits);
  const limit = newest('automation_job_success_age_limit_seconds');
  const lastSuccess = newest('automation_job_last_success_timestamp_seconds');
  const lastEnd = newest('automation_job_last_end_timestamp_seconds');
  // Jobs of a passive member run on the other members.
  const mode = `last_over_time(automation_execution_mode{mode="passive"}[${limits.gapWindow}])`;
  const passive = `unless on (job, cluster, server)\n  min without (${limits.replicaLabels}, member) (${mode}) == 1`;
  return {
    alert: 'AutomationJobNoRecentSuccess',
    // The value is 0 for a job that ran but never succeeded. On a passive server no job can succeed.
    expr: `(\n  time() - ${lastSuccess} > ${limit}\n  or\n  0 * (${limit} and ${lastEnd} unless ${lastSuccess})\n)\n${unlessDown}\n${passive}${unlessShared(limits)}\n${unlessBehind}`,
    for: limits.jobNoRecentSuccessFor,
    severity: 'warning',
    summary: `Job ${jobText} has not succeeded for too long`,
    description: `${jobOfServer} {{ if $value }}last succeeded {{ $value | humanizeDuration }} ago, which exceeds its success_age{{ else }}has run, but has not succeeded since the exporter started to watch it{{ end }}.${executionText('Last failed', lastFailedId, limits)}`,
    dashboard: dashboardOf.job,
    page: pageOf.job,
    needs: ['executions'],
  };
}

function overdue(limits: Thresholds): Alert {
  const { newest, once } = createExpressions(limits);
  const running = 'automation_executions_running_overdue';
  // A job without running executions has no series: its alert ends immediately, unless the whole scrape is missing.
  const ended = `(${newest(running)} unless ${once(running)})\n  and on (job, cluster, server, project) ${once(`${running}{job_group="",job_name=""}`)}`;
  return {
    alert: 'AutomationExecutionOverdue',
    // Every round reads running executions, even if finished ones are read late.
    expr: `${newest(running)} > 0\nunless\n(\n  ${ended}\n)`,
    for: limits.executionOverdueFor,
    severity: 'warning',
    summary: `Job ${jobText} takes much longer than usual`,
    description: `Executions of ${jobOfServer} that have been overdue for at least ${limits.executionOverdueFor}: {{ $value }}. Overdue executions take much longer than the average of the job.${executionText('The previous execution', 'automation_job_last_execution_id', limits)}`,
    dashboard: dashboardOf.job,
    page: pageOf.job,
    needs: ['executions'],
  };
}

/**
 * If one job fails on a node, the job is the likely cause; if several jobs fail on it and few or none on other nodes, the node
 * is the likely cause. In a project with a single node, the cause stays unknown.
 */
function brokenNode(limits: Thresholds): string {
  const { newest, once } = createExpressions(limits);
  const failures = once(`increase(automation_node_failures_total{node!="__other__"}[${limits.nodeWindow}])`);
  // Without the node, all other labels match: they may change when a target or a server gets other labels.
  const ofProject = `sum without (node) (${failures})`;
  const nodes = `sum without (os_family) (${newest('automation_project_nodes')})`;
  return `${failures} >= ${limits.nodeFailures}\nand\n${failures}\n  / ignoring (node) group_left () ${ofProject} >= ${limits.nodeFailureRatio}\nand on (job, cluster, server, node)\n  ${newest('automation_node_failing_jobs')} >= ${limits.nodeFailingJobs}\nunless on (job, cluster, server, project)\n  ${nodes} < 2`;
}

function nodeFailingEverywhere(limits: Thresholds): Alert {
  const { unlessBehind } = createExpressions(limits);
  return {
    alert: nodeAlert,
    expr: `${brokenNode(limits)}\n${unlessBehind}`,
    for: limits.nodeFailingFor,
    severity: 'warning',
    summary: 'Node {{ $labels.node }} fails in several jobs of {{ $labels.project }}',
    description: `About {{ $value | printf "%.0f" }} executions of {{ $labels.project }} on {{ $labels.server }} failed on the node {{ $labels.node }} within the last ${limits.nodeWindow}, and few or none on other nodes. No job has succeeded on it since.`,
    dashboard: dashboardOf.project,
    page: pageOf.failures,
    needs: ['executions', 'schedule'],
  };
}

function slower(limits: Thresholds): Alert {
  const { newest, unlessBehind } = createExpressions(limits);
  const ratio = newest('automation_job_duration_shift_ratio');
  const began = newest('automation_job_duration_shift_timestamp_seconds');
  return {
    alert: 'AutomationJobSlower',
    // The series do not end by themselves if the job does not run again.
    expr: `${ratio} >= ${limits.durationFactor}\nand\ntime() - ${began} < ${limits.durationShiftSeconds}\n${unlessBehind}`,
    for: '0s',
    severity: 'info',
    summary: `Job ${jobText} has become slower`,
    description: `The successful executions of ${jobOfServer} take {{ $value | printf "%.1f" }} times as long as before.${executionText('The last one', 'automation_job_last_execution_id', limits)}`,
    dashboard: dashboardOf.job,
    page: pageOf.job,
    needs: ['executions'],
  };
}
