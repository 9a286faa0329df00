import { byJob, jobLegend, ofJobs } from '../executions/series.ts';
import { topOverRange } from '../pieces/exporters.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { quantileOf } from '../pieces/histograms.ts';
import { numberTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function jobScheduleRow(): QuestionRow {
  const tile = { unit: 's', width: 4, height: 8 };
  const missed = `round(sum by (${byJob}, reason) (increase(automation_schedule_missed_total{${ofJobs}}[1h])))`;
  const maxMissed = `sum by (${byJob}, reason) (increase(automation_schedule_missed_total{${ofJobs}}[$__range] @ end()))`;
  return {
    id: 300,
    question: 'Does the job run on schedule?',
    panels: [
      numberTile({
        ...tile,
        id: 301,
        title: 'Next run in',
        description: 'Time until the schedule is expected to start the job.',
        emptyReason: 'Empty unless a schedule starts the job and is on.',
        queries: [
          {
            expr: `clamp_min(bottomk(${some}, min by (${byJob}) (automation_job_next_run_timestamp_seconds{${ofJobs}}) - time()), 0)`,
            legend: jobLegend,
          },
        ],
      }),
      numberTile({
        ...tile,
        id: 302,
        title: 'Missed ago',
        description: 'Time since the last expected run that did not happen.',
        emptyReason: 'Empty while nothing was missed.',
        queries: [
          {
            expr: `bottomk(${some}, clamp_min(time() - max by (${byJob}) (automation_job_last_missed_timestamp_seconds{${ofJobs}}), 0))`,
            legend: jobLegend,
          },
        ],
      }),
      timeSeries({
        id: 303,
        title: 'Missed runs by cause, over an hour',
        description: 'Expected times within the hour before each point at which nothing ran, by cause.',
        emptyReason: 'Empty unless a schedule starts the job.',
        unit: 'short',
        width: 8,
        height: 8,
        queries: [
          { expr: topOverRange(some, `${byJob}, reason`, missed, maxMissed), legend: `${jobLegend} {{reason}}` },
        ],
      }),
      timeSeries({
        id: 304,
        title: 'Start delay in the picked projects, 95th percentile over an hour',
        description:
          'Delay that 95 % of the scheduled runs in these projects did not exceed, including runs of other jobs.',
        emptyReason: 'Empty until a run on schedule was seen.',
        unit: 's',
        width: 8,
        height: 8,
        queries: [
          {
            expr: quantileOf(0.95, 'server', {
              name: 'automation_schedule_delay_seconds',
              matchers: 'server=~"$server",project=~"$project"',
              range: '[1h]',
            }),
            legend: '{{server}}',
          },
        ],
      }),
    ],
  };
}

/** The maximum number of jobs that are shown; if all are selected, these are the first ones. */
const some = 12;
