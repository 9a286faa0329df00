import { topOverRange } from '../pieces/exporters.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { numberTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';
import { bad, byProject, ofJobs, ofProjects, successRatio } from './series.ts';

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
        description:
          'Finished executions per minute, for the fifteen projects with the most executions in the selected time.',
        unit: 'opm',
        width: 12,
        height: 8,
        queries: [
          { expr: topOverRange(15, byProject, toPerMinute(byProject), maxEnds), legend: '{{server}}: {{project}}' },
        ],
      }),
      timeSeries({
        id: 107,
        title: 'Finished by trigger',
        description: 'Finished executions per minute, by what started them: a person, a schedule, a webhook.',
        unit: 'opm',
        width: 12,
        height: 8,
        queries: [
          {
            expr: `60 * sum by (server, trigger) (rate(automation_project_executions_total{${ofProjects}}[$__rate_interval]))`,
            legend: '{{server}}: {{trigger}}',
          },
        ],
      }),
      timeSeries({
        id: 106,
        title: 'Success ratio by project, over one hour',
        description: `Share of successful executions within the hour before each point, for the fifteen projects with the most failures in the selected time. ${neither}`,
        unit: 'percentunit',
        width: 12,
        height: 8,
        emptyReason: noEnd,
        queries: [
          {
            expr: topOverRange(15, byProject, successRatio(byProject, ofJobs, '1h'), maxBadEnds),
            legend: '{{server}}: {{project}}',
          },
        ],
      }),
    ],
  };
}

const neither = 'Aborted executions and retried attempts are not counted.';
const noEnd = 'Empty until the first execution has ended since the exporter began.';

const maxEnds = `sum by (${byProject}) (increase(automation_executions_total{${ofJobs}}[$__range] @ end()))`;
const maxBadEnds = `sum by (${byProject}) (increase(automation_executions_total{${ofJobs},${bad}}[$__range] @ end()))`;

function toIncrease(selector: string, window: string): string {
  return `increase(automation_executions_total{${selector}}[${window}])`;
}

function toPerMinute(by: string): string {
  return `60 * sum by (${by}) (rate(automation_executions_total{${ofJobs}}[$__rate_interval]))`;
}
