import type { QuestionRow } from '../pieces/grid.ts';
import { numberTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';
import { bad, ofJobs, successRatio } from './series.ts';

export function endingsRow(): QuestionRow {
  return {
    id: 100,
    question: 'How many executions are there, and how do they end?',
    panels: [
      numberTile({
        id: 101,
        title: 'Finished in the last hour',
        description: 'Executions that finished within the last hour, with any status.',
        unit: 'short',
        width: 8,
        height: 4,
        queries: [{ expr: `round(sum by (server) (${toIncrease(ofJobs, '1h')}))`, legend: '{{server}}' }],
      }),
      numberTile({
        id: 102,
        title: 'Failed in the last hour',
        description: 'Executions that failed, timed out or ended in an unusual way within the last hour.',
        unit: 'short',
        width: 8,
        height: 4,
        notableFrom: 1,
        queries: [{ expr: `round(sum by (server) (${toIncrease(`${ofJobs},${bad}`, '1h')}))`, legend: '{{server}}' }],
      }),
      numberTile({
        id: 103,
        title: 'Success ratio',
        description: `Share of successful executions within the selected time. ${neither}`,
        unit: 'percentunit',
        width: 8,
        height: 4,
        emptyReason: noEnd,
        queries: [{ expr: successRatio('server', ofJobs, '$__range'), legend: '{{server}}' }],
      }),
      timeSeries({
        id: 104,
        title: 'Finished by status',
        description: 'Finished executions per minute, by status.',
        unit: 'opm',
        width: 12,
        height: 8,
        queries: [{ expr: toPerMinute('server, status'), legend: '{{server}}: {{status}}' }],
      }),
      timeSeries({
        id: 105,
        title: 'Finished by project',
        description: 'Finished executions per minute, by project.',
        unit: 'opm',
        width: 12,
        height: 8,
        queries: [{ expr: toPerMinute('server, project'), legend: '{{server}}: {{project}}' }],
      }),
      timeSeries({
        id: 106,
        title: 'Success ratio by project, over one hour',
        description: `Share of successful executions within the hour before each point. ${neither}`,
        unit: 'percentunit',
        width: 24,
        height: 8,
        emptyReason: noEnd,
        queries: [{ expr: successRatio('server, project', ofJobs, '1h'), legend: '{{server}}: {{project}}' }],
      }),
    ],
  };
}

const neither = 'Cancelled ones and attempts that are tried again count as neither good nor bad.';
const noEnd = 'Empty until the first execution has ended since the exporter began.';

function toIncrease(selector: string, window: string): string {
  return `increase(automation_executions_total{${selector}}[${window}])`;
}

function toPerMinute(by: string): string {
  return `60 * sum by (${by}) (rate(automation_executions_total{${ofJobs}}[$__rate_interval]))`;
}
