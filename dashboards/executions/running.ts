import { topOverRange } from '../pieces/exporters.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { joinedTable } from '../pieces/joined-table.ts';
import { numberTile } from '../pieces/tiles.ts';
import { timeSeries } from '../pieces/time-series.ts';
import { byJob, byProject, jobColumns, ofJobs, ofProjects } from './series.ts';

export function runningRow(): QuestionRow {
  return {
    id: 200,
    question: 'What runs now, and what is stuck?',
    panels: [
      numberTile({
        id: 201,
        title: 'Running now',
        description: 'Running executions.',
        unit: 'short',
        width: 6,
        height: 4,
        queries: [{ expr: `sum by (server) (${running})`, legend: '{{server}}' }],
      }),
      numberTile({
        id: 202,
        title: 'Oldest running',
        description: 'Age of the oldest running execution.',
        unit: 's',
        width: 6,
        height: 4,
        emptyReason: idle,
        queries: [{ expr: `clamp_min(time() - min by (server) (${oldest}), 0)`, legend: '{{server}}' }],
      }),
      numberTile({
        id: 203,
        title: 'Overdue',
        description: 'Running executions that take a multiple of the average duration of their job.',
        unit: 'short',
        width: 6,
        height: 4,
        badFrom: 1,
        queries: [{ expr: `sum by (server) (${overdue})`, legend: '{{server}}' }],
      }),
      numberTile({
        id: 204,
        title: 'Waiting',
        description: 'Executions that wait for their scheduled time (scheduled) or for a free slot (queued).',
        unit: 'short',
        width: 6,
        height: 4,
        queries: [{ expr: `sum by (server, status) (${queued})`, legend: '{{server}} {{status}}' }],
      }),
      timeSeries({
        id: 205,
        title: 'Running by project',
        description:
          'Executions that run at the same time, in the fifteen projects with the most in the selected time.',
        unit: 'short',
        width: 12,
        height: 8,
        queries: [
          {
            expr: topOverRange(15, byProject, `sum by (${byProject}) (${running})`, maxRunning),
            legend: '{{server}}: {{project}}',
          },
        ],
      }),
      timeSeries({
        id: 206,
        title: 'Waiting and overdue by project',
        description:
          'Waiting executions, and executions that take much longer than usual. Both numbers grow when something is stuck.',
        unit: 'short',
        width: 12,
        height: 8,
        queries: [
          {
            expr: topOverRange(15, byProject, `sum by (server, project, status) (${queued})`, maxQueued),
            legend: '{{server}}: {{project}} {{status}}',
          },
          {
            expr: topOverRange(15, byProject, `sum by (${byProject}) (${overdue})`, maxOverdue),
            legend: '{{server}}: {{project}} overdue',
          },
        ],
      }),
      joinedTable({
        id: 207,
        title: 'What runs?',
        description:
          'Up to a hundred running jobs with their average duration. Rows without a job are ad hoc executions.',
        unit: 'short',
        width: 24,
        height: 8,
        emptyReason: idle,
        labels: jobColumns,
        values: [
          { heading: 'Running', expr: `topk(100, sum by (${byJob}) (${running})) > 0` },
          { heading: 'For', unit: 's', expr: `topk(100, clamp_min(time() - min by (${byJob}) (${oldest}), 0))` },
          {
            heading: 'Average',
            unit: 's',
            expr: `max by (${byJob}) (automation_job_average_duration_seconds{${ofJobs}}) and topk(100, sum by (${byJob}) (${running})) > 0`,
          },
          {
            heading: 'Overdue',
            expr: `sum by (${byJob}) (${overdue}) and topk(100, sum by (${byJob}) (${running})) > 0`,
          },
        ],
        sortBy: 'For',
      }),
    ],
  };
}

const running = `automation_executions_running{${ofJobs}}`;
const oldest = `automation_executions_running_oldest_start_timestamp_seconds{${ofJobs}}`;
const overdue = `automation_executions_running_overdue{${ofJobs}}`;
const queued = `automation_executions_queued{${ofProjects}}`;
const toMost = (series: string): string => `sum by (${byProject}) (max_over_time(${series}[$__range] @ end()))`;
const maxRunning = toMost(running);
const maxQueued = toMost(queued);
const maxOverdue = toMost(overdue);
const idle = 'Empty while nothing runs.';
