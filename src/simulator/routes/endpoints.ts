import { executionStatus, setExecutionMode } from '../answers/execution-mode.ts';
import { jobInfo, jobList, scheduledJobs } from '../answers/jobs.ts';
import { incompleteLogs, logStorage, resumeLogs } from '../answers/log-storage.ts';
import { metricsEndpoint, metricsList } from '../answers/metrics.ts';
import { oneProject, projectConfig, projectList, projectMeta } from '../answers/projects.ts';
import { systemInfo } from '../answers/system-info.ts';
import type { Endpoint } from './endpoint.ts';
import { get, post } from './endpoint.ts';

/** Every call the simulated service answers, with the smallest version that has it. */
export const endpoints: readonly Endpoint[] = [
  get('system/info', 14, systemInfo),
  get('system/executions/status', 32, executionStatus),
  post('system/executions/enable', 14, setExecutionMode('active')),
  post('system/executions/disable', 14, setExecutionMode('passive')),
  get('system/logstorage', 17, logStorage),
  get('system/logstorage/incomplete', 17, incompleteLogs),
  post('system/logstorage/incomplete/resume', 17, resumeLogs),
  get('metrics', 25, metricsList),
  get('metrics/:name', 25, metricsEndpoint),
  get('projects', 1, projectList),
  get('project/:project', 1, oneProject),
  get('project/:project/config', 11, projectConfig),
  get('project/:project/config/:key', 11, projectConfig),
  get('project/:project/meta', 46, projectMeta),
  get('project/:project/jobs', 14, jobList),
  get('scheduler/jobs', 17, scheduledJobs),
  get('scheduler/server/:uuid/jobs', 17, scheduledJobs),
  get('job/:id/info', 18, jobInfo),
];
