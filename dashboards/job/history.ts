import { durationsHeatmap } from '../executions/durations.ts';
import { byJob, ofJobs, ofProjects, successRatio } from '../executions/series.ts';
import { topOverRange } from '../pieces/exporters.ts';
import { factsTable } from '../pieces/facts-table.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function jobHistoryRow(): QuestionRow {
  const failures = `automation_node_failures_total{${ofProjects}}`;
  return {
    id: 200,
    question: 'How has the job been, and where does the job run?',
    panels: [
      timeSeries({
        id: 201,
        title: 'Finished by status',
        description: 'Finished executions of the selected jobs in the hour before each point, by status.',
        unit: 'short',
        width: 12,
        height: 8,
        queries: [
          {
            expr: `round(sum by (server, status) (increase(automation_executions_total{${ofJobs}}[1h])))`,
            legend: '{{server}}: {{status}}',
          },
        ],
      }),
      timeSeries({
        id: 202,
        title: 'Success ratio, over one day',
        description: 'Share of successful executions of the selected jobs within the day before each point.',
        emptyReason: 'Empty until the first execution has ended since the exporter began.',
        unit: 'percentunit',
        width: 12,
        height: 8,
        queries: [{ expr: successRatio('server', ofJobs, '1d'), legend: '{{server}}' }],
      }),
      durationsHeatmap(203),
      timeSeries({
        id: 204,
        title: 'Nodes by result',
        description:
          'Nodes on which executions of the selected jobs succeeded and failed, in the hour before each point.',
        unit: 'short',
        width: 12,
        height: 9,
        queries: [
          {
            expr: `round(sum by (server, result) (increase(automation_execution_nodes_total{${ofJobs}}[1h])))`,
            legend: '{{server}}: {{result}}',
          },
        ],
      }),
      timeSeries({
        id: 205,
        title: 'Failures by node of the project, over one hour',
        description: 'Failed executions of any job, on the ten nodes of the project with the most failures.',
        emptyReason: 'Empty while no execution has failed on a node.',
        unit: 'short',
        width: 12,
        height: 8,
        queries: [
          {
            expr: topOverRange(
              10,
              'server, project, node',
              `round(sum by (server, project, node) (increase(${failures}[1h])))`,
              `sum by (server, project, node) (increase(${failures}[$__range] @ end()))`,
            ),
            legend: '{{server}}: {{project}} {{node}}',
          },
        ],
      }),
      factsTable({
        id: 206,
        title: 'Which jobs are selected?',
        description: 'Up to fifty of the selected jobs: id, and whether they are scheduled and enabled.',
        emptyReason: 'Empty until the jobs of the projects have been read.',
        unit: 'none',
        width: 12,
        height: 8,
        columns: {
          server: 'Server',
          project: 'Project',
          job_group: 'Group',
          job_name: 'Job',
          job_id: 'Job id',
          scheduled: 'Scheduled',
          enabled: 'Enabled',
          schedule_enabled: 'Schedule enabled',
        },
        queries: [
          {
            expr: `topk(50, max by (${byJob}, job_id, scheduled, enabled, schedule_enabled) (automation_job_info{${ofJobs}}))`,
            legend: '{{job_name}}',
          },
        ],
      }),
    ],
  };
}
