import { topOverRange } from '../pieces/exporters.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { increaseOf, quantileOf } from '../pieces/histograms.ts';
import { joinedTable } from '../pieces/joined-table.ts';
import { numberTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';

const delays = { name: 'automation_schedule_delay_seconds', matchers: 'server=~"$server"', range: '[1h]' };

export function missesRow(): QuestionRow {
  return {
    id: 630,
    question: 'Did every scheduled run happen, and in time?',
    panels: [
      numberTile({
        id: 635,
        title: 'Missed in the last hour',
        description: 'Expected times within the last hour at which nothing ran.',
        emptyReason: noJobs,
        unit: 'short',
        width: 6,
        height: 4,
        queries: [
          {
            expr: 'round(sum by (server) (increase(automation_schedule_missed_total{server=~"$server"}[1h])))',
            legend: '{{server}}',
          },
        ],
      }),
      numberTile({
        id: 636,
        title: 'On schedule in the last hour',
        description: 'Runs within the last hour that started within the margin of their expected time.',
        emptyReason: noRuns,
        unit: 'short',
        width: 6,
        height: 4,
        queries: [{ expr: `round(${increaseOf('count', 'server', delays)})`, legend: '{{server}}' }],
      }),
      numberTile({
        id: 637,
        title: 'Jobs with a next run',
        description: 'Scheduled jobs that are on and expected to run again.',
        emptyReason: noJobs,
        unit: 'short',
        width: 6,
        height: 4,
        queries: [
          {
            expr: 'count by (server) (max without (instance, pod) (automation_job_next_run_timestamp_seconds{server=~"$server"}))',
            legend: '{{server}}',
          },
        ],
      }),
      numberTile({
        id: 638,
        title: 'Switches that are off',
        description: 'Scheduled jobs, or their schedules, that are switched off.',
        emptyReason: 'Empty while every scheduled job is on.',
        unit: 'short',
        width: 6,
        height: 4,
        queries: [
          {
            expr: 'count by (server) (max without (instance, pod) (automation_job_disabled_since_timestamp_seconds{server=~"$server"}))',
            legend: '{{server}}',
          },
        ],
      }),
      timeSeries({
        id: 631,
        title: 'Missed runs by cause, over an hour',
        description: 'Expected times within the hour before each point at which nothing ran, by cause.',
        emptyReason: noJobs,
        unit: 'short',
        width: 12,
        height: 8,
        queries: [
          {
            expr: 'round(sum by (server, reason) (increase(automation_schedule_missed_total{server=~"$server"}[1h])))',
            legend: '{{server}} {{reason}}',
          },
        ],
      }),
      timeSeries({
        id: 632,
        title: 'Start delay, 95th percentile over an hour',
        description: '95th percentile of the delay of scheduled runs.',
        emptyReason: noRuns,
        unit: 's',
        width: 12,
        height: 8,
        queries: [{ expr: quantileOf(0.95, 'server', delays), legend: '{{server}}' }],
      }),
      joinedTable({
        id: 633,
        title: 'Jobs that missed runs last',
        description:
          'Time since the last expected run that did not happen, for the twenty jobs that missed a run last.',
        emptyReason: 'Empty while nothing was missed.',
        unit: 's',
        width: 12,
        height: 8,
        labels: { server: 'Server', project: 'Project', job_group: 'Group', job_name: 'Job' },
        values: [
          {
            heading: 'Missed ago',
            expr: 'bottomk(20, clamp_min(time() - max by (server, project, job_group, job_name) (automation_job_last_missed_timestamp_seconds{server=~"$server"}), 0))',
          },
        ],
        sortBy: 'Missed ago',
      }),
      timeSeries({
        id: 634,
        title: 'Undecided times by project, over an hour',
        description:
          'Expected times that could not be decided, for the ten projects with the most undecided times in the selected time.',
        emptyReason: noJobs,
        unit: 'short',
        width: 12,
        height: 8,
        queries: [
          {
            expr: topOverRange(
              10,
              'server, project',
              'round(sum by (server, project) (increase(automation_schedule_undecided_total{server=~"$server"}[1h])))',
              'sum by (server, project) (increase(automation_schedule_undecided_total{server=~"$server"}[$__range] @ end()))',
            ),
            legend: '{{server}}: {{project}}',
          },
        ],
      }),
    ],
  };
}

const noJobs = 'Empty until a scheduled job is watched.';
const noRuns = 'Empty until a run on schedule was seen.';
