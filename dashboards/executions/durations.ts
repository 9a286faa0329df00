import type { QuestionRow } from '../pieces/grid.ts';
import { heatmap } from '../pieces/heatmap.ts';
import { joinedTable } from '../pieces/joined-table.ts';
import { timeSeries } from '../pieces/time-series.ts';
import { byJob, jobColumns, ofJobs } from './series.ts';

export function durationsRow(): QuestionRow {
  return {
    id: 400,
    question: 'How long do executions take?',
    panels: [
      heatmap({
        id: 401,
        title: 'Durations',
        description:
          'How many executions took how long. The darker a cell, the more ended there. Points lead to traces.',
        unit: 's',
        width: 12,
        height: 9,
        queries: [{ expr: `sum by (le) (increase(${buckets}[$__rate_interval]))`, legend: '{{le}}', exemplars: true }],
      }),
      timeSeries({
        id: 402,
        title: 'Durations by percentile, over one hour',
        description: 'Half, nine of ten and 99 of 100 executions of the hour before each point were faster.',
        unit: 's',
        width: 12,
        height: 9,
        queries: [50, 90, 99].map((percent) => ({
          expr: `histogram_quantile(${percent / 100}, sum by (server, le) (rate(${buckets}[1h])))`,
          legend: `{{server}} ${percent} %`,
          exemplars: true,
        })),
      }),
      timeSeries({
        id: 403,
        title: 'Median duration by project, over one hour',
        description: 'Half of the executions of the hour before each point were faster.',
        unit: 's',
        width: 12,
        height: 9,
        queries: [
          {
            expr: `histogram_quantile(0.5, sum by (server, project, le) (rate(${buckets}[1h])))`,
            legend: '{{server}}: {{project}}',
          },
        ],
      }),
      joinedTable({
        id: 404,
        title: 'Slowest jobs in the time that is shown',
        description:
          'The ten jobs with the largest 95th percentile, beside their newest run and the average that the server reckons.',
        unit: 's',
        width: 12,
        height: 9,
        emptyReason: 'Empty until the first execution has ended since the exporter began.',
        labels: jobColumns,
        values: [
          { heading: '95 % faster than', expr: slowest },
          { heading: 'Newest run', expr: ofSlowest('automation_job_last_duration_seconds') },
          { heading: 'Average', expr: ofSlowest('automation_job_average_duration_seconds') },
        ],
        sortBy: '95 % faster than',
      }),
    ],
  };
}

const buckets = `automation_execution_duration_seconds_bucket{${ofJobs}}`;
const slowest = `topk(10, histogram_quantile(0.95, sum by (${byJob}, le) (increase(${buckets}[$__range]))) > 0)`;

function ofSlowest(name: string): string {
  return `max by (${byJob}) (${name}{${ofJobs}}) and ${slowest}`;
}
