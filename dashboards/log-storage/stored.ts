import { defaultThresholds } from '../../alerts/thresholds.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { numberTile, stateTile, textTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function logStorageRow(): QuestionRow {
  return {
    id: 300,
    question: 'Are logs being stored?',
    panels: [
      stateTile({
        id: 301,
        title: 'Log storage',
        description:
          'On: a storage plugin is configured. Off: logs stay on the disk of the server, and nothing below can fail.',
        unit: 'none',
        width: 4,
        height: 4,
        words: { 0: ['Off', 'notable'], 1: ['On', 'good'] },
        queries: [
          { expr: 'min by (server) (automation_log_storage_enabled{server=~"$server"})', legend: '{{server}}' },
        ],
      }),
      textTile({
        id: 302,
        title: 'Plugin',
        description: 'The configured log storage plugin.',
        unit: 'none',
        width: 4,
        height: 4,
        emptyReason: 'Empty while no storage plugin is configured.',
        queries: [
          { expr: 'max by (server, plugin) (automation_log_storage_info{server=~"$server"})', legend: '{{plugin}}' },
        ],
      }),
      numberTile({
        id: 303,
        title: 'Failed in the last hour',
        description: 'Log storage requests that failed within the last hour; each may be the log of one execution.',
        unit: 'short',
        width: 4,
        height: 4,
        notableFrom: 1,
        badFrom: defaultThresholds.logStorageFailedRequests,
        queries: [
          {
            expr: 'round(sum by (server) (increase(automation_log_storage_failed_total{server=~"$server"}[1h])))',
            legend: '{{server}}',
          },
        ],
      }),
      numberTile({
        id: 304,
        title: 'Queued',
        description: 'Log storage requests in the queue.',
        unit: 'short',
        width: 4,
        height: 4,
        notableFrom: backlog,
        queries: [{ expr: queued, legend: '{{server}}' }],
      }),
      numberTile({
        id: 305,
        title: 'Incomplete',
        description: 'Log storage requests that were not completed successfully.',
        unit: 'short',
        width: 4,
        height: 4,
        notableFrom: backlog,
        queries: [{ expr: incomplete, legend: '{{server}}' }],
      }),
      numberTile({
        id: 306,
        title: 'Missing',
        description:
          'Executions without a log storage request. Always 0 unless the server is configured to count missing requests.',
        unit: 'short',
        width: 4,
        height: 4,
        notableFrom: 1,
        queries: [{ expr: missing, legend: '{{server}}' }],
      }),
      timeSeries({
        id: 307,
        title: 'Requests stored and failed',
        description:
          'How many log storage requests succeed and fail. A restart of the server sets the counts back to 0.',
        unit: 'ops',
        width: 12,
        height: 8,
        queries: [
          {
            expr: 'sum by (server) (rate(automation_log_storage_succeeded_total{server=~"$server"}[$__rate_interval]))',
            legend: '{{server}} succeeded',
          },
          {
            expr: 'sum by (server) (rate(automation_log_storage_failed_total{server=~"$server"}[$__rate_interval]))',
            legend: '{{server}} failed',
          },
        ],
      }),
      timeSeries({
        id: 308,
        title: 'Backlog',
        description:
          'Requests that are queued, incomplete or missing. The dashed line is the limit of the backlog alert.',
        unit: 'short',
        width: 12,
        height: 8,
        limit: backlog,
        queries: [
          { expr: queued, legend: '{{server}} queued' },
          { expr: incomplete, legend: '{{server}} incomplete' },
          { expr: missing, legend: '{{server}} missing' },
        ],
      }),
    ],
  };
}

const backlog = defaultThresholds.logStorageBacklogRequests;

const queued = 'sum by (server) (automation_log_storage_queued{server=~"$server"})';
const incomplete = 'sum by (server) (automation_log_storage_incomplete{server=~"$server"})';
const missing = 'sum by (server) (automation_log_storage_missing{server=~"$server"})';
