import { bad, successRatio } from '../executions/series.ts';
import { topFailingJobs } from '../executions/top-failing-jobs.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { numberTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function executionsRow(): QuestionRow {
  return {
    id: 600,
    question: 'Do jobs succeed, and is anything stuck?',
    panels: [
      numberTile({
        id: 601,
        title: 'Executions in the last hour',
        description: 'Executions that finished within the last hour, with any status.',
        unit: 'short',
        width: 4,
        height: 4,
        queries: [{ expr: toEnds(server), legend: '{{server}}' }],
      }),
      numberTile({
        id: 602,
        title: 'Executions failed in the last hour',
        description: 'Executions that failed, timed out or ended in an unusual way within the last hour.',
        unit: 'short',
        width: 4,
        height: 4,
        notableFrom: 1,
        queries: [{ expr: toEnds(`${server},${bad}`), legend: '{{server}}' }],
      }),
      numberTile({
        id: 603,
        title: 'Success ratio of the last hour',
        description: 'Share of successful executions. Aborted executions and retried attempts are not counted.',
        unit: 'percentunit',
        width: 4,
        height: 4,
        emptyReason: 'Empty until the first execution has ended since the exporter began.',
        queries: [{ expr: successRatio('server', server, '1h'), legend: '{{server}}' }],
      }),
      numberTile({
        id: 604,
        title: 'Executions running',
        description: 'Running executions.',
        unit: 'short',
        width: 4,
        height: 4,
        queries: [{ expr: toSum('automation_executions_running'), legend: '{{server}}' }],
      }),
      numberTile({
        id: 605,
        title: 'Executions overdue',
        description: 'Running executions that take a multiple of the average duration of their job.',
        unit: 'short',
        width: 4,
        height: 4,
        badFrom: 1,
        queries: [{ expr: toSum('automation_executions_running_overdue'), legend: '{{server}}' }],
      }),
      numberTile({
        id: 606,
        title: 'Executions waiting',
        description: 'Executions that wait for their scheduled time or for a free slot.',
        unit: 'short',
        width: 4,
        height: 4,
        queries: [{ expr: toSum('automation_executions_queued'), legend: '{{server}}' }],
      }),
      timeSeries({
        id: 607,
        title: 'Executions by status',
        description: 'Finished executions per minute, by status.',
        unit: 'opm',
        width: 12,
        height: 8,
        queries: [
          {
            expr: `60 * sum by (server, status) (rate(automation_executions_total{${server}}[$__rate_interval]))`,
            legend: '{{server}}: {{status}}',
          },
        ],
      }),
      topFailingJobs({ id: 608, selector: server, width: 12, height: 8 }),
    ],
  };
}

const server = 'server=~"$server"';

function toEnds(selector: string): string {
  return `round(sum by (server) (increase(automation_executions_total{${selector}}[1h])))`;
}

function toSum(name: string): string {
  return `sum by (server) (${name}{${server}})`;
}
