import type { Api } from '../api/client.ts';
import {
  type ExecutionsMetrics,
  executionsMetrics,
  projectExecutionsMetrics,
} from '../api/endpoints/executions-metrics.ts';
import { gauge } from '../metrics/family.ts';
import { defineProjectCollector, type ProjectToAsk } from '../schedule/collector.ts';

export const executionMetricsCollector = defineProjectCollector({
  name: 'execution-metrics',
  help: "The server's own count of executions in the last day, in total and for the configured projects",
  every: '5m',
  on: true,
  projects: 'Patterns of projects whose executions are also counted separately.',
  andServer: true,
  covers: (project, { hasExecutionMetrics }) => hasExecutionMetrics(project),
  reads: [executionsMetrics, projectExecutionsMetrics],
  metrics: {
    recent: gauge(
      'automation_executions_recent',
      'Executions that ended within the window, counted by the server; an empty project means all projects [executions/metrics total].',
      'project',
      'window',
    ),
    duration: gauge(
      'automation_execution_recent_duration_seconds',
      'Duration of the executions in automation_executions_recent, rounded by the server to whole minutes above one minute; min and max wrap at 24 h; prefer the histogram [executions/metrics duration].',
      'project',
      'window',
      'stat',
    ),
  },
  fetch: readMetrics,
  map: ({ total, averageMs, minMs, maxMs }, { recent, duration }, { project }) => [
    ...recent.rows(total, { project, window }),
    ...Object.entries({ average: averageMs, min: minMs, max: maxMs }).flatMap(([stat, ms]) =>
      duration.rows(ms === undefined ? undefined : ms / 1000, { project, window, stat }),
    ),
  ],
});

/** The window of the counts. In this API, `m` means months, and an unknown unit selects the whole history. */
const window = '1d';

function readMetrics(api: Api, { name }: ProjectToAsk): Promise<ExecutionsMetrics> {
  const query = { recentFilter: window };
  if (name === '') return api.get(executionsMetrics, { query });
  return api.get(projectExecutionsMetrics, { path: { project: name }, query });
}
