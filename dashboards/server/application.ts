import { topOverRange } from '../pieces/exporters.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { joinedTable } from '../pieces/joined-table.ts';
import { timeSeries } from '../pieces/time-series.ts';

export function applicationRow(): QuestionRow {
  return {
    id: 150,
    question: 'What does the application measure itself, and what does it hold?',
    panels: [
      timeSeries({
        id: 151,
        title: 'Events of the application',
        description:
          'The ten meters of the application with the most events in the selected time, such as API requests.',
        emptyReason: noMetrics,
        unit: 'ops',
        width: 12,
        height: 8,
        queries: [
          {
            expr: topOverRange(
              10,
              'server, member, name',
              `sum by (server, member, name) (rate(${events}[$__rate_interval]))`,
              `sum by (server, member, name) (increase(${events}[$__range] @ end()))`,
            ),
            legend: '{{server}} {{member}}: {{name}}',
          },
        ],
      }),
      timeSeries({
        id: 152,
        title: 'Slowest timers of the application, 95th percentile',
        description:
          'The ten timers of the application with the largest 95th percentile, as the application reports it.',
        emptyReason: noMetrics,
        unit: 's',
        width: 12,
        height: 8,
        queries: [
          {
            expr: topOverRange(
              10,
              'server, member, name',
              `max by (server, member, name) (${timers})`,
              `max by (server, member, name) (max_over_time(${timers}[$__range] @ end()))`,
            ),
            legend: '{{server}} {{member}}: {{name}}',
          },
        ],
      }),
      timeSeries({
        id: 153,
        title: 'Ping',
        description: 'Duration of an authenticated ping, measured by the exporter.',
        emptyReason: noMetrics,
        unit: 's',
        width: 12,
        height: 8,
        queries: [
          {
            expr: 'max by (server, member) (automation_ping_duration_seconds{server=~"$server"})',
            legend: '{{server}} {{member}}',
          },
        ],
      }),
      joinedTable({
        id: 154,
        title: 'Projects',
        description: 'Jobs, scheduled jobs and nodes of the fifty projects with the most jobs.',
        emptyReason: 'Empty until the jobs and nodes of the projects have been read.',
        unit: 'short',
        width: 12,
        height: 8,
        labels: { server: 'Server', project: 'Project' },
        values: [
          { heading: 'Jobs', expr: most },
          {
            heading: 'Scheduled',
            expr: `sum by (server, project) (automation_project_jobs{server=~"$server",scheduled="true"}) and ${most}`,
          },
          {
            heading: 'Nodes',
            expr: `sum by (server, project) (automation_project_nodes{server=~"$server"}) and on (server, project) ${most}`,
          },
        ],
        sortBy: 'Jobs',
      }),
    ],
  };
}

const events = 'automation_app_events_total{server=~"$server"}';
const timers = 'automation_app_duration_seconds{server=~"$server",quantile="0.95"}';
const most = 'topk(50, sum by (server, project) (automation_project_jobs{server=~"$server"}))';
const noMetrics = 'Empty while the metrics endpoints of the server are switched off or denied.';
