import { logStorage } from '../api/endpoints/log-storage.ts';
import { counter, gauge, info } from '../metrics/family.ts';
import { defineCollector } from './collector.ts';

/** Whether execution logs reach their storage. */
export const logStorageCollector = defineCollector({
  name: 'log-storage',
  help: 'Log storage: requests stored, failed, waiting, and logs that are incomplete or missing',
  every: '30s',
  on: true,
  perMember: true,
  reads: [logStorage],
  metrics: {
    enabled: gauge('automation_log_storage_enabled', 'Whether a log storage plugin is configured [enabled].'),
    plugin: info('automation_log_storage_info', 'The configured log storage plugin [pluginName].', 'plugin'),
    succeeded: counter(
      'automation_log_storage_succeeded_total',
      'Log storage requests that succeeded since the server started [succeededCount].',
    ),
    failed: counter(
      'automation_log_storage_failed_total',
      'Log storage requests that failed since the server started [failedCount].',
    ),
    queued: gauge('automation_log_storage_queued', 'Log storage requests that wait [queuedCount].'),
    requests: gauge('automation_log_storage_requests', 'Log storage requests waiting and processed [totalCount].'),
    incomplete: gauge(
      'automation_log_storage_incomplete',
      'Executions whose logs are not fully stored [incompleteCount].',
    ),
    missing: gauge(
      'automation_log_storage_missing',
      'Executions without a log storage request; always 0 unless the server is told to count them [missingCount].',
    ),
  },
  fetch: (api) => api.get(logStorage),
  map: (storage, metrics) => [
    ...metrics.enabled.rows(storage.enabled === undefined ? undefined : Number(storage.enabled)),
    ...metrics.plugin.rows({ plugin: storage.pluginName }),
    ...metrics.succeeded.rows(storage.succeededCount),
    ...metrics.failed.rows(storage.failedCount),
    ...metrics.queued.rows(storage.queuedCount),
    ...metrics.requests.rows(storage.totalCount),
    ...metrics.incomplete.rows(storage.incompleteCount),
    ...metrics.missing.rows(storage.missingCount),
  ],
});
