import type { Alert } from '../alert.ts';
import { jobText } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';

/** Do jobs succeed, and do they come to an end? */
export function executionAlerts(limits: Thresholds): Alert[] {
  // What is read late is old: it must not page, and a success may only not have been read yet.
  const unlessBehind = `unless on (job, instance, server)\n  automation_exporter_execution_lag_seconds > ${limits.executionLagSeconds}`;
  const limit = 'automation_job_success_age_limit_seconds';
  const lastSuccess = 'automation_job_last_success_timestamp_seconds';
  return [
    {
      alert: 'AutomationJobFailingRepeatedly',
      expr: `automation_job_consecutive_failures >= ${limits.jobConsecutiveFailures}\n${unlessBehind}`,
      for: limits.jobFailingFor,
      severity: 'warning',
      summary: `Job ${jobText} keeps failing`,
      description: `${jobOfServer} has failed {{ $value }} times in a row.`,
    },
    {
      alert: 'AutomationJobNoRecentSuccess',
      // A job that ran and never succeeded has no age: its value is 0.
      expr: `(\n  time() - ${lastSuccess} > ${limit}\n  or\n  0 * (${limit} and automation_job_last_end_timestamp_seconds unless ${lastSuccess})\n)\n${unlessBehind}`,
      for: limits.jobNoRecentSuccessFor,
      severity: 'warning',
      summary: `Job ${jobText} has not succeeded for too long`,
      description: `${jobOfServer} {{ if $value }}last succeeded {{ $value | humanizeDuration }} ago, which exceeds its success_age{{ else }}has run, but has not succeeded since the exporter started to watch it{{ end }}.`,
    },
    {
      alert: 'AutomationExecutionOverdue',
      // What runs now is read in every round, however far behind the reading of finished executions is.
      expr: 'automation_executions_running_overdue > 0',
      for: limits.executionOverdueFor,
      severity: 'warning',
      summary: `Job ${jobText} takes much longer than usual`,
      description: `Executions of ${jobOfServer} that have been running for a multiple of its average duration for at least ${limits.executionOverdueFor}: {{ $value }}.`,
    },
  ];
}

const jobOfServer = `${jobText} on {{ $labels.server }}`;
