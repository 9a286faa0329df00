import { projectExecutions, runningExecutions } from '../../api/endpoints/executions.ts';
import { jobSections } from '../../api/endpoints/job-sections.ts';
import { jobDefinition, jobForecast, jobInfo, projectJobs } from '../../api/endpoints/jobs.ts';
import { projectNodes } from '../../api/endpoints/nodes.ts';
import { pluginList } from '../../api/endpoints/plugins.ts';
import { projects } from '../../api/endpoints/projects.ts';
import { storedKeys, storedKeysBelow } from '../../api/endpoints/storage.ts';
import { aclPoliciesCollector } from '../../collectors/acl-policies.ts';
import { appMetricsCollector } from '../../collectors/app-metrics.ts';
import { clusterJobsCollector } from '../../collectors/cluster-jobs.ts';
import { executionMetricsCollector } from '../../collectors/execution-metrics.ts';
import { executionModeCollector } from '../../collectors/execution-mode.ts';
import { healthcheckCollector } from '../../collectors/healthcheck.ts';
import { jobInfoCollector } from '../../collectors/job-info.ts';
import { logStorageCollector } from '../../collectors/log-storage.ts';
import { logStorageIncompleteCollector } from '../../collectors/log-storage-incomplete.ts';
import { pingCollector } from '../../collectors/ping.ts';
import { projectJobsCollector } from '../../collectors/project-jobs.ts';
import { projectModesCollector } from '../../collectors/project-modes.ts';
import { projectNodesCollector } from '../../collectors/project-nodes.ts';
import { projectsCollector } from '../../collectors/projects.ts';
import { storedKeysCollector } from '../../collectors/stored-keys.ts';
import { systemInfoCollector } from '../../collectors/system-info.ts';
import { threadsCollector } from '../../collectors/threads.ts';
import { tokensCollector } from '../../collectors/tokens.ts';
import { userClassesCollector } from '../../collectors/user-classes.ts';
import { usersCollector } from '../../collectors/users.ts';
import { changeFamilies } from '../../diagnosis/changes/families.ts';
import { executionFamilies } from '../../executions/series/families.ts';
import { defaultMaxSeries } from '../../executions/settings.ts';
import { scheduleFamilies } from '../../expected-runs/showing/families.ts';
import type {
  ChangesCollector,
  Collector,
  ExecutionsCollector,
  ExpectedRunsCollector,
} from '../../schedule/collector.ts';

const changesCollector: ChangesCollector = {
  kind: 'changes',
  name: 'changes',
  help: 'The journal of changes: of jobs and their definitions, keys, nodes, projects and the server. Requires the collector executions',
  every: '1m',
  on: true,
  vital: false,
  perMember: false,
  reads: [storedKeys, storedKeysBelow, projectNodes, jobSections, pluginList],
  metrics: changeFamilies,
};

/** Compares the runs of jobs with their schedules. */
const scheduleCollector: ExpectedRunsCollector = {
  kind: 'expected-runs',
  name: 'schedule',
  help: 'Scheduled runs that did not happen, and why; delays, next runs, and expected concurrent runs. Requires the collector executions',
  every: '1m',
  on: true,
  vital: false,
  perMember: false,
  maxSeries: 50_000,
  reads: [projectJobs, jobForecast, jobInfo, jobDefinition],
  metrics: scheduleFamilies,
};

/** Publishes the running executions, and counts every finished execution once. */
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

export const collectors: readonly Collector[] = [
  systemInfoCollector,
  executionModeCollector,
  healthcheckCollector,
  pingCollector,
  logStorageCollector,
  logStorageIncompleteCollector,
  appMetricsCollector,
  threadsCollector,
  projectsCollector,
  projectModesCollector,
  projectJobsCollector,
  projectNodesCollector,
  jobInfoCollector,
  executionMetricsCollector,
  executionsCollector,
  scheduleCollector,
  changesCollector,
  tokensCollector,
  usersCollector,
  userClassesCollector,
  clusterJobsCollector,
  aclPoliciesCollector,
  storedKeysCollector,
];
