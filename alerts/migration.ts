import { stringify } from 'yaml';
import { createExpressions } from './expressions.ts';
import { defaultThresholds } from './thresholds.ts';

const { newest, once } = createExpressions(defaultThresholds);

/** The labels of the other exporter: `instance_address` is the configured name of the server. */
function toServer(expr: string): string {
  return `label_replace(${expr}, "instance_address", "$1", "server", "(.+)")`;
}

function toProject(expr: string): string {
  return toServer(`label_replace(${expr}, "project_name", "$1", "project", "(.+)")`);
}

const running =
  'clamp_max(sum by (cluster, server, project, job_group, job_name) (automation_executions_running{job_name!=""}), 1)';
const lastDay = `sum by (cluster, server, project) (${once('increase(automation_project_executions_total[1d])')})`;
// Not the newest value of a few minutes: it may include executions that have ended since, which `lastDay` counts already.
const executionsOfDay = toProject(
  `(${lastDay} + on (cluster, server, project) sum by (cluster, server, project) (${once('automation_executions_running')}))`,
);

/** Metrics with the names of `rundeck_exporter` 4.1, computed from this exporter's: one series for each job. */
const records: Readonly<Record<string, string>> = {
  rundeck_system_info: toServer(
    `label_replace(label_replace(${newest('automation_server_info')}, "apiversion", "$1", "api_version", "(.+)"), "serverUUID", "$1", "server_uuid", "(.+)")`,
  ),
  rundeck_execution_mode_active: toServer(newest('automation_execution_mode{mode="active"}')),
  rundeck_execution_mode_passive: toServer(newest('automation_execution_mode{mode="passive"}')),
  rundeck_system_stats_uptime_since: toServer(`1000 * ${newest('automation_server_start_time_seconds')}`),
  rundeck_system_stats_cpu_loadAverage_ratio: toServer(newest('automation_server_load_average')),
  rundeck_system_stats_memory_max_bytes: toServer(newest('automation_server_memory_max_bytes')),
  rundeck_system_stats_memory_total_bytes: toServer(newest('automation_server_memory_total_bytes')),
  rundeck_system_stats_memory_free_bytes: toServer(newest('automation_server_memory_free_bytes')),
  rundeck_system_stats_threads_active: toServer(newest('automation_server_threads_active')),
  rundeck_system_stats_scheduler_running: toServer(newest('automation_scheduler_running_executions')),
  rundeck_system_stats_scheduler_threadPoolSize: toServer(newest('automation_scheduler_thread_pool_size')),
  rundeck_project_start_timestamp: toProject(`1000 * ${newest('automation_job_last_start_timestamp_seconds')}`),
  rundeck_project_execution_duration_seconds: toProject(newest('automation_job_last_duration_seconds')),
  rundeck_project_execution_status: toProject(
    `(sum without (job) (${newest('automation_job_last_status')}) or label_replace(${running}, "status", "running", "", ""))`,
  ),
  rundeck_project_executions: executionsOfDay,
  rundeck_project_executions_total: executionsOfDay,
  rundeck_project_nodes_total: toProject(`sum by (cluster, server, project) (${newest('automation_project_nodes')})`),
};

/** Recording rules for dashboards and alerts that still use the names of the other exporter. */
export function buildMigrationRules(): string {
  const rules = Object.entries(records).map(([record, expr]) => ({ record, expr }));
  return stringify({ groups: [{ name: 'automation-migration', interval: '1m', rules }] }, { lineWidth: 0 });
}
