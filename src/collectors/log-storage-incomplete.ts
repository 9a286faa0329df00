import type { Api } from '../api/client.ts';
import { type IncompleteLog, incompleteLogs } from '../api/endpoints/log-storage.ts';
import { readList } from '../api/paging.ts';
import { earliestGauge, gauge } from '../metrics/family.ts';
import { defineCollector, type Watch } from '../schedule/collector.ts';

export const logStorageIncompleteCollector = defineCollector({
  name: 'log-storage-incomplete',
  help: 'Executions whose logs are not fully stored, by project, and the age of the oldest one',
  every: '5m',
  on: true,
  perMember: true,
  reads: [incompleteLogs],
  metrics: {
    executions: gauge(
      'automation_log_storage_incomplete_executions',
      'Executions whose logs are not fully stored, by state: queued or failed [system/logstorage/incomplete].',
      'project',
      'state',
    ),
    oldest: earliestGauge(
      'automation_log_storage_oldest_incomplete_timestamp_seconds',
      'Date of the oldest log that is not fully stored [system/logstorage/incomplete, storage.date].',
      'project',
    ),
  },
  fetch: readIncomplete,
  map: (logs, { executions, oldest }) =>
    [...Map.groupBy(logs, ({ project }) => project)].flatMap(([project, ofProject]) => {
      // A failed log may be queued again. A log counts in only one state.
      const failed = ofProject.filter((log) => log.failed === true).length;
      const queued = ofProject.filter((log) => log.queued === true && log.failed !== true).length;
      const dates = ofProject.flatMap(({ sinceMs }) => sinceMs ?? []);
      return [
        ...executions.rows(queued, { project, state: 'queued' }),
        ...executions.rows(failed, { project, state: 'failed' }),
        ...oldest.rows(dates.length === 0 ? undefined : Math.min(...dates) / 1000, { project }),
      ];
    }),
});

async function readIncomplete(api: Api, watch: Watch): Promise<IncompleteLog[]> {
  const logs = await readList((query) => api.get(incompleteLogs, { query }), {
    apiEndpoint: incompleteLogs.name,
    idOf: ({ id }) => id,
    overlap: 50,
    maxPages: 20,
  });
  if (logs.length === 0) return [];
  const watched = new Set((await watch.projects.read(api)).map(({ name }) => name));
  return logs.filter(({ project }) => project !== undefined && watched.has(project));
}
