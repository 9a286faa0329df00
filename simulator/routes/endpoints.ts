import type { Answerer } from '../answers/answer.ts';
import { authorizations } from '../answers/authorizations.ts';
import { oneExecution } from '../answers/executions/execution.ts';
import { projectExecutions, runningExecutions } from '../answers/executions/execution-lists.ts';
import { executionOutput } from '../answers/executions/execution-output.ts';
import { executionState } from '../answers/executions/execution-state.ts';
import { executionsMetrics } from '../answers/executions/executions-metrics.ts';
import { jobDefinition, jobWorkflow } from '../answers/job-detail.ts';
import { jobForecast, jobInfo, jobList, scheduledJobs } from '../answers/jobs.ts';
import { keyStorage, projectAcls, systemAcls } from '../answers/key-storage.ts';
import { metricsEndpoint, monitoring } from '../answers/metrics.ts';
import { projectConfig, projectList, projectMeta, projectNodes } from '../answers/projects.ts';
import {
  executionStatus,
  incompleteLogs,
  logStorage,
  pluginList,
  resumeLogs,
  setExecutionMode,
  systemInfo,
} from '../answers/system.ts';
import { tokenList, userClass, userInfo, userList } from '../answers/users.ts';
import type { Release } from '../release.ts';

/** All endpoints of the simulated server, each with the smallest version that has it. */
export const endpoints: readonly Endpoint[] = [
  get('system/info', 14, systemInfo),
  get('system/executions/status', 32, executionStatus),
  post('system/executions/enable', 14, setExecutionMode('active')),
  post('system/executions/disable', 14, setExecutionMode('passive')),
  get('system/logstorage', 17, logStorage),
  get('system/logstorage/incomplete', 17, incompleteLogs),
  post('system/logstorage/incomplete/resume', 17, resumeLogs),
  get('plugin/list', 33, pluginList),
  get('metrics/:name', 25, metricsEndpoint),
  get('monitoring/:name', 25, monitoring),
  get('projects', 1, projectList),
  get('project/:project/config/:key', 11, projectConfig),
  get('project/:project/meta', 46, projectMeta),
  get('project/:project/jobs', 14, jobList),
  get('scheduler/jobs', 17, scheduledJobs),
  get('scheduler/server/:uuid/jobs', 17, scheduledJobs),
  get('job/:id', 14, jobDefinition),
  get('job/:id/info', 18, jobInfo),
  get('job/:id/forecast', 31, jobForecast),
  get('job/:id/workflow', 33, jobWorkflow, { realSince: () => 34 }),
  get('executions/metrics', 29, executionsMetrics),
  get('project/:project/executions/metrics', 29, executionsMetrics),
  get('project/:project/executions/running', 14, runningExecutions),
  get('project/:project/executions', 14, projectExecutions),
  get('execution/:id', 14, oneExecution),
  get('execution/:id/state', 14, executionState),
  get('execution/:id/output', 14, executionOutput),
  get('project/:project/resources', 14, projectNodes),
  get('project/:project/acl', 13, projectAcls),
  get('system/acl', 14, systemAcls),
  get('storage/keys', 11, keyStorage),
  get('storage/keys/*path', 11, keyStorage),
  get('tokens', 11, tokenList, { realSince: sinceOfTokens }),
  get('authorizations/application/:kind', 14, authorizations),
  get('authorizations/application/:type/:project', 14, authorizations),
  get('authorizations/project/:project/:kind', 14, authorizations),
  get('authorizations/project/:project/:type/:id', 14, authorizations),
  get('user/list', 27, userList, { realSince: () => 21 }),
  get('user/info', 21, userInfo),
  get('userclass/state', 41, userClass, { commercial: true }),
];

/** Returns the first version with tokens: real servers refuse v11 to v18 since 3.3.8 (API reference, "API tokens"). */
function sinceOfTokens({ apiVersion }: Release): number {
  return apiVersion < 37 ? 11 : 19;
}

/** One endpoint as data, for the router, the tests and the request log. */
export type Endpoint = {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly since: number;
  readonly answer: Answerer;
  /** The version that real servers need, if it differs from the documented version. */
  readonly realSince?: (release: Release) => number;
  /** True if only the commercial edition has the endpoint. */
  readonly commercial?: boolean;
};

function get(path: string, since: number, answer: Answerer, more: Partial<Endpoint> = {}): Endpoint {
  return { method: 'get', path, since, answer, ...more };
}

function post(path: string, since: number, answer: Answerer, more: Partial<Endpoint> = {}): Endpoint {
  return { method: 'post', path, since, answer, ...more };
}
