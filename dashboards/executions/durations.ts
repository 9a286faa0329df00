import { topOverRange } from '../pieces/exporters.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { heatmap } from '../pieces/heatmap.ts';
import { bucketsOf, increaseOf, quantileOf } from '../pieces/histograms.ts';
import { joinedTable } from '../pieces/joined-table.ts';
import { timeSeries } from '../pieces/time-series.ts';
import { byJob, byProject, jobColumns, ofJobs } from './series.ts';

export function durationsRow(): QuestionRow {
  return {
    id: 400,
    question: 'How long do executions take?',
    panels: [
      durationsHeatmap(401),
      timeSeries({
        id: 402,
        title: 'Durations by percentile, over one hour',
        description: '50th, 90th and 99th percentile over the hour before each point.',
        unit: 's',
        width: 12,
        height: 9,
        queries: [50, 90, 99].map((percent) => ({
          expr: quantileOf(percent / 100, 'server', { ...durations, range: '[1h]' }),
          legend: `{{server}} ${percent} %`,
          exemplars: true,
        })),
      }),
      timeSeries({
        id: 403,
        title: 'Median duration by project, over one hour',
        description:
          'Median over the hour before each point, for the fifteen projects with the most executions in the selected time.',
        unit: 's',
        width: 12,
        height: 9,
        queries: [
          {
            expr: topOverRange(
              15,
              byProject,
              quantileOf(0.5, byProject, { ...durations, range: '[1h]' }),
              increaseOf('count', byProject, { ...durations, range: '[$__range] @ end()' }),
            ),
            legend: '{{server}}: {{project}}',
          },
        ],
      }),
      joinedTable({
        id: 404,
        title: 'Slowest jobs in the selected time',
        description:
          'The ten jobs with the largest 95th percentile, their last duration and the average reported by the server.',
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

/** All durations of the selected jobs, with points that link to traces. */
export function durationsHeatmap(id: number) {
  return heatmap({
    id,
    title: 'Durations',
    description: 'Durations of executions. Darker cells hold more executions. Points link to traces.',
    unit: 's',
    width: 12,
    height: 9,
    queries: [{ expr: bucketsOf({ ...durations, range: '[$__rate_interval]' }), legend: '{{le}}', exemplars: true }],
  });
}

const durations = { name: 'automation_execution_duration_seconds', matchers: ofJobs };
const slowest = `topk(10, ${quantileOf(0.95, byJob, { ...durations, range: '[$__range]' }, 'increase')} > 0)`;

function ofSlowest(name: string): string {
  return `max by (${byJob}) (${name}{${ofJobs}}) and ${slowest}`;
}
