import type { QuestionRow } from '../pieces/grid.ts';
import { joinedTable } from '../pieces/joined-table.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function aheadRow(): QuestionRow {
  return {
    id: 650,
    question: 'What comes next, and is there room for it?',
    panels: [
      timeSeries({
        id: 651,
        title: 'Runs expected at once, and threads',
        description:
          'Peak number of concurrent runs expected within the next hour and day, against the threads of the scheduler.',
        emptyReason: 'Empty until schedules were read.',
        unit: 'short',
        width: 12,
        height: 8,
        queries: [
          {
            expr: 'max by (server, horizon) (automation_scheduler_expected_running{server=~"$server"})',
            legend: '{{server}} within {{horizon}}',
          },
          {
            expr: 'max by (server) (automation_scheduler_thread_pool_size{server=~"$server"})',
            legend: '{{server}} threads',
          },
        ],
      }),
      joinedTable({
        id: 652,
        title: 'Next runs',
        description: 'Time until the next expected run, for the twenty jobs that run soonest.',
        emptyReason: 'Empty until a scheduled job is watched.',
        unit: 's',
        width: 12,
        height: 8,
        labels: { server: 'Server', project: 'Project', job_group: 'Group', job_name: 'Job' },
        values: [
          {
            heading: 'Starts in',
            expr: 'clamp_min(bottomk(20, min by (server, project, job_group, job_name) (automation_job_next_run_timestamp_seconds{server=~"$server"}) - time()), 0)',
          },
        ],
        sortBy: 'Starts in',
      }),
      joinedTable({
        id: 653,
        title: 'Jobs that are switched off',
        description:
          'Time since a scheduled job, or its schedule, was switched off, for the twenty jobs that are off for longest.',
        emptyReason: 'Empty while every scheduled job is on.',
        unit: 's',
        width: 12,
        height: 8,
        labels: { server: 'Server', project: 'Project', job_group: 'Group', job_name: 'Job', what: 'Switch' },
        values: [
          {
            heading: 'Off for',
            expr: 'topk(20, clamp_min(time() - min by (server, project, job_group, job_name, what) (automation_job_disabled_since_timestamp_seconds{server=~"$server"}), 0))',
          },
        ],
        sortBy: 'Off for',
      }),
      timeSeries({
        id: 655,
        title: 'Runs at risk',
        description: 'Expected runs of the next twelve hours that are at risk, by reason.',
        emptyReason: 'Empty until executions and schedules were read.',
        unit: 'short',
        width: 12,
        height: 8,
        queries: [
          {
            expr: 'max by (server, reason) (automation_schedule_at_risk_runs{server=~"$server",horizon="12h"})',
            legend: '{{server}} {{reason}}',
          },
        ],
      }),
      joinedTable({
        id: 656,
        title: 'Next runs at risk',
        description: 'Up to twenty jobs whose next run is at risk.',
        emptyReason: 'Empty while no next run is at risk.',
        unit: 's',
        width: 12,
        height: 8,
        labels: { server: 'Server', project: 'Project', job_group: 'Group', job_name: 'Job', reason: 'Reason' },
        values: [
          {
            heading: 'Starts in',
            expr: 'clamp_min(bottomk(20, max by (server, project, job_group, job_name, reason) (automation_job_next_run_at_risk{server=~"$server"}) * on (server, project, job_group, job_name) group_left () min by (server, project, job_group, job_name) (automation_job_next_run_timestamp_seconds{server=~"$server"}) - time()), 0)',
          },
        ],
        sortBy: 'Starts in',
      }),
      timeSeries({
        id: 654,
        title: 'Time until more runs than threads are expected',
        description: 'Time until more concurrent runs are expected than the scheduler has threads.',
        emptyReason: 'Empty while no such time is expected within a day.',
        unit: 's',
        width: 12,
        height: 8,
        queries: [
          {
            expr: 'clamp_min(min by (server) (automation_scheduler_expected_saturation_timestamp_seconds{server=~"$server"}) - time(), 0)',
            legend: '{{server}}',
          },
        ],
      }),
    ],
  };
}
