import type { Alert } from '../alert.ts';
import type { Thresholds } from '../thresholds.ts';

/** Are logs being stored, or are they being lost? */
export function logStorageAlerts(limits: Thresholds): Alert[] {
  const failed = `increase(automation_log_storage_failed_total[${limits.logStorageWindow}])`;
  const succeeded = `increase(automation_log_storage_succeeded_total[${limits.logStorageWindow}])`;
  const backlog = limits.logStorageBacklogRequests;
  return [
    {
      alert: 'AutomationLogStorageFailing',
      expr: `${failed} >= ${limits.logStorageFailedRequests}\nand\n${failed} >= ${limits.logStorageFailedRatio} * (${failed} + ${succeeded})`,
      for: limits.logStorageFailingFor,
      severity: 'critical',
      summary: 'Automation service {{ $labels.server }} fails to store execution logs',
      description: `About {{ $value | printf "%.0f" }} log storage requests of {{ $labels.server }} failed within the last ${limits.logStorageWindow}. Logs of executions may be lost.`,
    },
    {
      alert: 'AutomationLogStorageBacklog',
      expr: `automation_log_storage_queued > ${backlog} or automation_log_storage_incomplete > ${backlog}`,
      for: limits.logStorageBacklogFor,
      severity: 'warning',
      summary: 'Log storage of {{ $labels.server }} does not keep up',
      description: `{{ $value }} log storage requests of {{ $labels.server }} are queued or incomplete; more than ${backlog} have been for ${limits.logStorageBacklogFor}.`,
    },
    {
      alert: 'AutomationLogStorageMissing',
      expr: 'automation_log_storage_missing > 0',
      for: limits.logStorageMissingFor,
      severity: 'warning',
      summary: 'Executions of {{ $labels.server }} have no log storage request',
      description: '{{ $value }} executions of {{ $labels.server }} never asked for their log to be stored.',
    },
  ];
}
