import { logStorage } from '../api/endpoints/log-storage.ts';
import type { Memory } from '../domain/memory.ts';
import { counter, gauge, info } from '../metrics/family.ts';
import { defineCollector } from '../schedule/collector.ts';

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
    queued: gauge('automation_log_storage_queued', 'Log storage requests that are waiting [queuedCount].'),
    requests: gauge('automation_log_storage_requests', 'Log storage requests, waiting or processed [totalCount].'),
    incomplete: gauge(
      'automation_log_storage_incomplete',
      'Executions whose logs are not fully stored [incompleteCount].',
    ),
    missing: gauge(
      'automation_log_storage_missing',
      'Executions without a log storage request; recent releases report 0 unless configured to count them [missingCount].',
    ),
  },
  fetch: async (api) => ({ ...(await api.get(logStorage)), hidesMembers: api.server().hidesMembers }),
  remember: rememberFailures,
  complaints: (counts, { memory: { failedAtMs, succeeded }, nowMs }) => {
    const { failedCount, queuedCount = 0, incompleteCount = 0, missingCount = 0 } = counts;
    // The failure is shown for a shorter time if a log was stored after the failure.
    const minutes = succeeded === undefined ? 10 : 30;
    return [
      ...(typeof failedAtMs === 'number' && nowMs - failedAtMs < minutes * 60_000
        ? [`storing logs fails: ${failedCount} times since the server started, the last within ${minutes} minutes`]
        : []),
      ...(queuedCount > longQueue ? [`${queuedCount} logs wait to be stored`] : []),
      ...(incompleteCount > longQueue ? [`${incompleteCount} logs are not fully stored`] : []),
      ...(missingCount > 0 ? [`${missingCount} executions have no log storage request`] : []),
    ];
  },
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

/** The length from which a queue is no longer a burst. The alert on the backlog uses the same number. */
const longQueue = 50;

type Counts = { failedCount?: number | undefined; succeededCount?: number | undefined; hidesMembers: boolean };
const nothing: Memory = {};

/**
 * Stores the time of the last failed request, and the count of successes until the count rises. Failures before the first poll
 * are ignored, and so are counts of several members at one address.
 */
function rememberFailures(
  { failedCount: failed, succeededCount: succeeded = 0, hidesMembers }: Counts,
  before: Memory,
  nowMs: number,
): Memory {
  if (hidesMembers) return nothing;
  if (failed === undefined) return before;
  if (failed === before.failed) {
    const { succeeded: earlier, ...others } = before;
    return typeof earlier === 'number' && succeeded > earlier ? others : before;
  }
  if (typeof before.failed !== 'number') return { failed };
  // If the count is lower, a restart of the server has reset it.
  return failed > 0 ? { failed, failedAtMs: nowMs, succeeded } : { failed };
}
