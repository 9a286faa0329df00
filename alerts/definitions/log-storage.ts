import type { Alert } from '../alert.ts';
import { createExpressions } from '../expressions.ts';
import { dashboardOf, pageOf, serverText } from '../label-texts.ts';
import type { Thresholds } from '../thresholds.ts';

/** Are logs being stored, or are they being lost? */
export function logStorageAlerts(limits: Thresholds): Alert[] {
  const { newest, once } = createExpressions(limits);
  const failed = (window: string): string => once(`increase(automation_log_storage_failed_total[${window}])`);
  const succeeded = (window: string): string => once(`increase(automation_log_storage_succeeded_total[${window}])`);
  const { logStorageWindow: window, logStorageRecoveredWindow: recently, logStorageBacklogRequests: backlog } = limits;
  /** Returns the time of the last increase of requests with this result. */
  const last = (result: string): string =>
    once(`max_over_time(timestamp(increase(automation_log_storage_${result}_total[${recently}]) > 0)[${window}:1m])`);
  return [
    {
      alert: 'AutomationLogStorageFailing',
      // The alert resolves once logs are stored again, even while the window contains failures.
      expr: `${failed(window)} >= ${limits.logStorageFailedRequests}\nand\n${failed(window)} >= ${limits.logStorageFailedRatio} * (${failed(window)} + ${succeeded(window)})\nunless\n  ${last('succeeded')} > ${last('failed')}`,
      for: limits.logStorageFailingFor,
      severity: 'critical',
      summary: `Automation service ${serverText} fails to store execution logs`,
      description: `About {{ $value | printf "%.0f" }} log storage requests of ${serverText} failed within the last ${window}. Logs of executions may be lost.`,
      dashboard: dashboardOf.logStorage,
      page: pageOf.server,
      needs: ['log-storage'],
    },
    {
      alert: 'AutomationLogStorageBacklog',
      expr: `${newest('automation_log_storage_queued')} > ${backlog}\nor\n${newest('automation_log_storage_incomplete')} > ${backlog}`,
      for: limits.logStorageBacklogFor,
      severity: 'warning',
      summary: `Log storage of ${serverText} does not keep up`,
      description: `{{ $value }} log storage requests of ${serverText} are queued or incomplete; the number has been above ${backlog} for ${limits.logStorageBacklogFor}.`,
      dashboard: dashboardOf.logStorage,
      page: pageOf.server,
      needs: ['log-storage'],
    },
    {
      alert: 'AutomationLogStorageMissing',
      expr: `${newest('automation_log_storage_missing')} > 0`,
      for: limits.logStorageMissingFor,
      severity: 'warning',
      summary: `Executions of ${serverText} have no log storage request`,
      description: `Executions of ${serverText} without a request to store their log: {{ $value }}.`,
      dashboard: dashboardOf.logStorage,
      page: pageOf.server,
      needs: ['log-storage'],
    },
  ];
}
