import type { Alert } from '../alert.ts';
import { serverText } from '../label-texts.ts';
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
      summary: `Automation service ${serverText} fails to store execution logs`,
      description: `About {{ $value | printf "%.0f" }} log storage requests of ${serverText} failed within the last ${limits.logStorageWindow}. Logs of executions may be lost.`,
    },
    {
      alert: 'AutomationLogStorageBacklog',
      expr: `automation_log_storage_queued > ${backlog} or automation_log_storage_incomplete > ${backlog}`,
      for: limits.logStorageBacklogFor,
      severity: 'warning',
      summary: `Log storage of ${serverText} does not keep up`,
      description: `{{ $value }} log storage requests of ${serverText} are queued or incomplete; the number has been above ${backlog} for ${limits.logStorageBacklogFor}.`,
    },
    {
      alert: 'AutomationLogStorageMissing',
      expr: 'automation_log_storage_missing > 0',
      for: limits.logStorageMissingFor,
      severity: 'warning',
      summary: `Executions of ${serverText} have no log storage request`,
      description: `{{ $value }} executions of ${serverText} have no request to store their log.`,
    },
  ];
}
