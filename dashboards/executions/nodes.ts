import { topOverRange } from '../pieces/exporters.ts';
import type { QuestionRow } from '../pieces/grid.ts';
import { joinedTable } from '../pieces/joined-table.ts';
import { timeSeries } from '../pieces/time-series.ts';
import { ofJobs, ofProjects } from './series.ts';

export function nodesRow(): QuestionRow {
  return {
    id: 500,
    question: 'Which nodes fail most?',
    panels: [
      joinedTable({
        id: 501,
        title: 'Failures by node in the selected time',
        description: 'The twenty nodes with the most failed executions; not filtered by the selected job.',
        unit: 'short',
        width: 12,
        height: 9,
        emptyReason: noFailure,
        labels: { server: 'Server', project: 'Project', node: 'Node' },
        values: [{ heading: 'Failures', expr: `topk(20, round(${toFailures('$__range')})) > 0` }],
        sortBy: 'Failures',
      }),
      timeSeries({
        id: 502,
        title: 'Failures by node, over one hour',
        description:
          'Executions that failed on a node in the hour before each point, for the ten nodes with the most failures in the selected time.',
        unit: 'short',
        width: 12,
        height: 9,
        emptyReason: noFailure,
        queries: [
          {
            expr: topOverRange(
              10,
              'server, project, node',
              `round(${toFailures('1h')})`,
              toFailures('$__range', ' @ end()'),
            ),
            legend: '{{server}}: {{project}} {{node}}',
          },
        ],
      }),
      timeSeries({
        id: 503,
        title: 'Nodes by result',
        description: 'Nodes on which executions succeeded and failed, per minute; each node counts once per execution.',
        unit: 'opm',
        width: 24,
        height: 8,
        queries: [
          {
            expr: `60 * sum by (server, result) (rate(automation_execution_nodes_total{${ofJobs}}[$__rate_interval]))`,
            legend: '{{server}}: {{result}}',
          },
        ],
      }),
    ],
  };
}

const noFailure = 'Empty while no execution has failed on a node.';

function toFailures(window: string, at = ''): string {
  return `sum by (server, project, node) (increase(automation_node_failures_total{${ofProjects}}[${window}]${at}))`;
}
