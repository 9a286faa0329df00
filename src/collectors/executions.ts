import { projectExecutions, runningExecutions } from '../api/endpoints/executions.ts';
import { projects } from '../api/endpoints/projects.ts';
import { executionFamilies } from '../executions/series/families.ts';
import { defaultMaxSeries } from '../executions/settings.ts';
import type { ExecutionsCollector } from '../schedule/collector.ts';

/** Shows the running executions, and counts every finished one once. */
export const executionsCollector: ExecutionsCollector = {
  kind: 'executions',
  name: 'executions',
  help: 'Running, queued and finished executions; each finished execution is counted once',
  every: '15s',
  on: true,
  vital: true,
  perMember: false,
  maxSeries: defaultMaxSeries,
  reads: [runningExecutions, projectExecutions, projects],
  metrics: executionFamilies,
};
