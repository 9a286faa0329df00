import { topOverRange } from '../pieces/exporters.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { joinedTable } from '../pieces/joined-table.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function incompleteRow(): QuestionRow {
  return {
    id: 350,
    question: 'Whose logs are not stored, and since when?',
    panels: [
      timeSeries({
        id: 351,
        title: 'Incomplete logs by project',
        description:
          'Executions whose logs are not fully stored, for the ten projects with the most in the selected time.',
        emptyReason: allStored,
        unit: 'short',
        width: 12,
        height: 8,
        queries: [
          {
            expr: topOverRange(
              10,
              'server, project',
              `sum by (server, project, state) (${incomplete})`,
              `sum by (server, project) (max_over_time(${incomplete}[$__range] @ end()))`,
            ),
            legend: '{{server}}: {{project}} {{state}}',
          },
        ],
      }),
      joinedTable({
        id: 352,
        title: 'Oldest incomplete logs',
        description: 'Age of the oldest log that is not fully stored, for the twenty projects with the oldest logs.',
        emptyReason: allStored,
        unit: 's',
        width: 12,
        height: 8,
        labels: { server: 'Server', project: 'Project' },
        values: [
          {
            heading: 'Waiting for',
            expr: 'topk(20, clamp_min(time() - min by (server, project) (automation_log_storage_oldest_incomplete_timestamp_seconds{server=~"$server"}), 0))',
          },
        ],
        sortBy: 'Waiting for',
      }),
      timeSeries({
        id: 353,
        title: 'Share of requests that fail, over 30 minutes',
        description: 'Share of storage requests that failed in the 30 minutes before each point.',
        emptyReason: 'Empty until the first log was stored.',
        unit: 'percentunit',
        width: 12,
        height: 8,
        queries: [
          { expr: `${toRise('failed')} / (${toRise('failed')} + ${toRise('succeeded')} > 0)`, legend: '{{server}}' },
        ],
      }),
      timeSeries({
        id: 354,
        title: 'Requests in total',
        description: 'Log storage requests that the server knows of, waiting or processed.',
        unit: 'short',
        width: 12,
        height: 8,
        queries: [
          { expr: 'sum by (server) (automation_log_storage_requests{server=~"$server"})', legend: '{{server}}' },
        ],
      }),
    ],
  };
}

const incomplete = 'automation_log_storage_incomplete_executions{server=~"$server"}';
const allStored = 'Empty while every log is stored.';

function toRise(what: 'failed' | 'succeeded'): string {
  return `sum by (server) (increase(automation_log_storage_${what}_total{server=~"$server"}[30m]))`;
}
