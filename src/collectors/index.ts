import type { Collector } from '../schedule/collector.ts';
import { aclPoliciesCollector } from './acl-policies.ts';
import { appMetricsCollector } from './app-metrics.ts';
import { changesCollector } from './changes.ts';
import { clusterJobsCollector } from './cluster-jobs.ts';
import { executionMetricsCollector } from './execution-metrics.ts';
import { executionModeCollector } from './execution-mode.ts';
import { executionsCollector } from './executions.ts';
import { healthcheckCollector } from './healthcheck.ts';
import { jobInfoCollector } from './job-info.ts';
import { logStorageCollector } from './log-storage.ts';
import { logStorageIncompleteCollector } from './log-storage-incomplete.ts';
import { pingCollector } from './ping.ts';
import { projectJobsCollector } from './project-jobs.ts';
import { projectModesCollector } from './project-modes.ts';
import { projectNodesCollector } from './project-nodes.ts';
import { projectsCollector } from './projects.ts';
import { scheduleCollector } from './schedule.ts';
import { storedKeysCollector } from './stored-keys.ts';
import { systemInfoCollector } from './system-info.ts';
import { threadsCollector } from './threads.ts';
import { tokensCollector } from './tokens.ts';
import { userClassesCollector } from './user-classes.ts';
import { usersCollector } from './users.ts';

/** All collectors, in the order of the documentation. */
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
