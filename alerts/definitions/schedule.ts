import type { Alert } from '../alert.ts';
import { createExpressions } from '../expressions.ts';
import { dashboardOf, jobsAtRiskText, pageOf } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';
import { delays } from './punctuality.ts';

/** Do all scheduled runs happen, and in time? */
export function scheduleAlerts(limits: Thresholds): Alert[] {
  return [
    missed(limits),
    missedOfCritical(limits),
    ownerGone(limits),
    late(limits),
    willSaturate(limits),
    atRisk(limits),
    criticalAtRisk(limits),
    disabledTooLong(limits),
  ];
}

/** Returns missed runs by server and cause, so that a passive server is one alert. */
function toMisses(selector: string, limits: Thresholds, ofJobs = ''): string {
  const { newest, once } = createExpressions(limits);
  const misses = `automation_schedule_missed_total{${selector}}[${limits.scheduleWindow}]`;
  // A new owner continues the counts, so its first value contains runs that were missed during the change.
  const isShared = newest('automation_exporter_lease_owned');
  const rise = `${once(`max_over_time(${misses})`)} - ${once(`min_over_time(${misses})`, 'min')}`;
  const increase = `(${rise} and on (job, cluster, server) ${isShared} or ${once(`increase(${misses})`)})`;
  return `sum without (project, job_group, job_name) (${increase}${ofJobs})`;
}

/**
 * Selects critical jobs (`and`) or all others (`unless`). A job counts as critical if it was so at any time in the window.
 * Several exporters of one server have equal series.
 */
function ofCritical(operator: 'and' | 'unless', limits: Thresholds, window = limits.gapWindow): string {
  const critical = createExpressions(limits).once(`last_over_time(automation_schedule_critical[${window}])`);
  return ` ${operator} on (job, cluster, server, project, job_group, job_name) ${critical}`;
}

function missed(limits: Thresholds): Alert {
  return {
    alert: 'AutomationScheduleMissed',
    expr: `${toMisses('reason!="orphaned"', limits, ofCritical('unless', limits, limits.scheduleWindow))} > 0`,
    for: limits.scheduleMissedFor,
    severity: 'warning',
    summary: 'Scheduled runs on {{ $labels.server }} did not happen: {{ $labels.reason }}',
    description: `Scheduled runs on {{ $labels.server }} that did not happen within the last ${limits.scheduleWindow}: about {{ $value | printf "%.0f" }}. The cause is {{ $labels.reason }}.`,
    dashboard: dashboardOf.schedule,
    page: pageOf.schedule,
    needs: ['schedule'],
  };
}

function missedOfCritical(limits: Thresholds): Alert {
  return {
    ...missed(limits),
    alert: 'AutomationScheduleMissedCritical',
    expr: `${toMisses('reason!="orphaned"', limits, ofCritical('and', limits, limits.scheduleWindow))} > 0`,
    severity: 'critical',
    summary: 'Critical scheduled runs on {{ $labels.server }} did not happen: {{ $labels.reason }}',
    description: `Scheduled runs of critical jobs on {{ $labels.server }} that did not happen within the last ${limits.scheduleWindow}: about {{ $value | printf "%.0f" }}. The cause is {{ $labels.reason }}.`,
  };
}

function ownerGone(limits: Thresholds): Alert {
  return {
    alert: 'AutomationScheduleOwnerGone',
    expr: `${toMisses('reason="orphaned"', limits)} > 0`,
    for: limits.scheduleMissedFor,
    severity: 'critical',
    summary: 'Jobs on {{ $labels.server }} belong to a member that does not respond',
    description: `Scheduled runs on {{ $labels.server }} that did not happen within the last ${limits.scheduleWindow}, because the member that owns their schedules does not respond: about {{ $value | printf "%.0f" }}.`,
    dashboard: dashboardOf.schedule,
    page: pageOf.schedule,
    needs: ['schedule'],
  };
}

function late(limits: Thresholds): Alert {
  const { once } = createExpressions(limits);
  const rate = (name: string): string => `rate(${name}[${limits.scheduleWindow}])`;
  const classic = `histogram_quantile(0.95, ${once(rate(`${delays}_bucket`))})`;
  const native = once(`histogram_quantile(0.95, ${rate(delays)})`);
  return {
    alert: 'AutomationScheduleLate',
    expr: `(${classic} or ${native}) > ${limits.scheduleLateSeconds}`,
    for: limits.scheduleLateFor,
    severity: 'warning',
    summary: 'Scheduled runs of {{ $labels.project }} on {{ $labels.server }} start late',
    description: `Of the scheduled runs of {{ $labels.project }} on {{ $labels.server }} within the last ${limits.scheduleWindow}, 5 % started more than ${limits.scheduleLateSeconds / 60} minutes late.`,
    dashboard: dashboardOf.schedule,
    page: pageOf.schedule,
    needs: ['schedule'],
  };
}

function willSaturate(limits: Thresholds): Alert {
  const { newest, unlessDown } = createExpressions(limits);
  return {
    alert: 'AutomationSchedulerWillSaturate',
    expr: `${newest('automation_scheduler_expected_saturation_timestamp_seconds', 'min')} > 0\n${unlessDown}`,
    for: limits.scheduleSaturationFor,
    severity: 'info',
    summary: 'More runs than threads are expected on {{ $labels.server }}',
    description:
      'At {{ $value | humanizeTimestamp }}, more runs are expected at the same time on {{ $labels.server }} than its scheduler has threads: some runs will start late.',
    dashboard: dashboardOf.schedule,
    page: pageOf.schedule,
    needs: ['schedule'],
  };
}

function atRisk(limits: Thresholds): Alert {
  const { newest, unlessBehind, unlessDown } = createExpressions(limits);
  return {
    alert: 'AutomationRunsAtRisk',
    expr: `${newest('automation_schedule_at_risk_runs{horizon="12h"}')} > 0\n${unlessDown}\n${unlessBehind}`,
    for: limits.runsAtRiskFor,
    severity: 'warning',
    summary: 'Coming runs on {{ $labels.server }} are at risk: {{ $labels.reason }}',
    description: `Scheduled runs of the next 12 hours on {{ $labels.server }} that are at risk: {{ $value }}. The reason is {{ $labels.reason }}.${jobsAtRiskText(limits)}`,
    dashboard: dashboardOf.schedule,
    page: pageOf.tonight,
    needs: ['schedule'],
  };
}

function criticalAtRisk(limits: Thresholds): Alert {
  const { newest, unlessBehind, unlessDown } = createExpressions(limits);
  const nextRun = newest('automation_job_next_run_timestamp_seconds', 'min');
  const ofSoon = `and on (job, cluster, server, project, job_group, job_name) ${nextRun} - time() < ${limits.runsAtRiskSoonSeconds}`;
  const next = `${newest('automation_job_next_run_at_risk')}${ofCritical('and', limits)} ${ofSoon}`;
  return {
    ...atRisk(limits),
    alert: 'AutomationRunsAtRiskCritical',
    expr: `count without (project, job_group, job_name) (${next}) > 0\n${unlessDown}\n${unlessBehind}`,
    for: '0s',
    severity: 'critical',
    summary: 'Critical runs on {{ $labels.server }} are at risk: {{ $labels.reason }}',
    description: `Critical jobs on {{ $labels.server }} whose next run starts within ${limits.runsAtRiskSoonSeconds / 3600} hours and is at risk: {{ $value }}. The reason is {{ $labels.reason }}.${jobsAtRiskText(limits, `${ofCritical('and', limits)} ${ofSoon}`)}`,
  };
}

function disabledTooLong(limits: Thresholds): Alert {
  const { newest, unlessBehind, unlessDown } = createExpressions(limits);
  const age = `time() - ${newest('automation_job_disabled_since_timestamp_seconds', 'min')}`;
  return {
    alert: 'AutomationJobDisabledTooLong',
    expr: `count without (job_group, job_name) (max without (what) (${age} > ${limits.jobDisabledSeconds}))\n${unlessDown}\n${unlessBehind}`,
    for: limits.jobDisabledFor,
    severity: 'info',
    summary: 'Scheduled jobs of {{ $labels.project }} on {{ $labels.server }} have been off for a long time',
    description: `Scheduled jobs of {{ $labels.project }} on {{ $labels.server }} that have been switched off for more than ${limits.jobDisabledSeconds / 86_400} days, or whose schedules have been: {{ $value }}.`,
    dashboard: dashboardOf.schedule,
    page: pageOf.switchedOff,
    needs: ['schedule'],
  };
}
