import { describe, expect, it } from 'vitest';
import { collectors } from '../../src/collectors/index.ts';
import { toOwnFamilies } from '../../src/metrics/reference.ts';
import { createSelf } from '../../src/metrics/self.ts';

/** What is collected: the collector, on or off, `m` where it is asked of each member, `v` where it is vital; then its families, types and labels. */
const watched = `
system-info on m v
  automation_server_info info version build node server_uuid api_version
  automation_server_os_info info arch name version
  automation_server_jvm_info info name vendor version implementation_version
  automation_server_start_time_seconds gauge
  automation_server_clock_skew_seconds gauge
  automation_server_load_average gauge
  automation_server_processors gauge
  automation_server_memory_max_bytes gauge
  automation_server_memory_total_bytes gauge
  automation_server_memory_free_bytes gauge
  automation_server_threads_active gauge
  automation_scheduler_running_executions gauge
  automation_scheduler_thread_pool_size gauge
execution-mode on m v
  automation_execution_mode gauge mode
  automation_execution_mode_change_timestamp_seconds gauge
healthcheck on m
  automation_healthcheck_healthy gauge check
ping on m
  automation_ping_duration_seconds gauge
log-storage on m
  automation_log_storage_enabled gauge
  automation_log_storage_info info plugin
  automation_log_storage_succeeded_total counter
  automation_log_storage_failed_total counter
  automation_log_storage_queued gauge
  automation_log_storage_requests gauge
  automation_log_storage_incomplete gauge
  automation_log_storage_missing gauge
log-storage-incomplete on m
  automation_log_storage_incomplete_executions gauge project state
  automation_log_storage_oldest_incomplete_timestamp_seconds gauge project
app-metrics on m
  automation_app_value gauge name project
  automation_app_events_total counter name project
  automation_app_duration_seconds summary name project
  automation_app_distribution summary name project
threads off m
  automation_app_threads gauge state
projects on
  automation_projects gauge
  automation_project_info info project label created
project-modes on
  automation_project_execution_mode gauge project mode
project-jobs on
  automation_project_jobs gauge project scheduled enabled schedule_enabled
project-nodes on
  automation_project_nodes gauge project os_family
job-info on
  automation_job_info info project job_group job_name job_id scheduled enabled schedule_enabled
  automation_job_average_duration_seconds gauge project job_group job_name
execution-metrics on
  automation_executions_recent gauge project window
  automation_execution_recent_duration_seconds gauge project window stat
executions on v
  automation_executions_running gauge project job_group job_name
  automation_executions_running_oldest_start_timestamp_seconds gauge project job_group job_name
  automation_executions_running_overdue gauge project job_group job_name
  automation_executions_queued gauge project status
  automation_executions_total counter project job_group job_name status
  automation_project_executions_total counter project trigger status
  automation_execution_duration_seconds histogram project job_group job_name status
  automation_execution_nodes_total counter project job_group job_name result
  automation_node_failures_total counter project node
  automation_job_average_duration_seconds gauge project job_group job_name
  automation_job_last_start_timestamp_seconds gauge project job_group job_name
  automation_job_last_end_timestamp_seconds gauge project job_group job_name
  automation_job_last_success_timestamp_seconds gauge project job_group job_name
  automation_job_last_duration_seconds gauge project job_group job_name
  automation_job_last_execution_id gauge project job_group job_name
  automation_job_last_failed_execution_id gauge project job_group job_name
  automation_job_last_status gauge project job_group job_name status
  automation_job_consecutive_failures gauge project job_group job_name
  automation_job_success_age_limit_seconds gauge project job_group job_name
  automation_exporter_executions_hidden gauge project
  cicd_pipeline_run_duration_seconds histogram cicd_pipeline_name cicd_pipeline_run_state cicd_pipeline_result error_type
  cicd_pipeline_run_active gauge cicd_pipeline_name cicd_pipeline_run_state
  cicd_pipeline_run_errors_total counter cicd_pipeline_name error_type
tokens on
  automation_token_expiration_timestamp_seconds gauge name
  automation_tokens gauge state
users off
  automation_users gauge
user-classes off
  automation_user_class_users gauge class
  automation_user_class_entitled gauge class
  automation_user_class_exceeded gauge class
cluster-jobs off
  automation_cluster_member_jobs gauge server_uuid
acl-policies off
  automation_acl_policies gauge project
stored-keys off
  automation_stored_keys gauge kind
`;

/** What is said of each server as a whole, and of the daemon itself; server and member stand with it. */
const own = `
  automation_up gauge server member
  automation_credentials_accepted gauge server member
  automation_exporter_build_info info version node_version
  automation_exporter_collector_success gauge server member collector
  automation_exporter_collector_duration_seconds gauge server member collector
  automation_exporter_collector_last_success_timestamp_seconds gauge server member collector
  automation_exporter_collector_enabled gauge server member collector reason
  automation_exporter_collector_series gauge server member collector
  automation_exporter_series_dropped_total counter server member collector reason
  automation_exporter_api_requests_total counter server member api_endpoint code
  automation_exporter_api_request_duration_seconds histogram server member api_endpoint
  automation_exporter_api_errors_total counter server member api_endpoint kind
  automation_exporter_api_inflight gauge server member
  automation_exporter_api_budget_wait_seconds_total counter server member
  automation_exporter_circuit_open gauge server member
  automation_exporter_executions_observed_total counter server
  automation_exporter_executions_late_total counter server
  automation_exporter_executions_imported_total counter server
  automation_exporter_executions_unmeasured_total counter server reason
  automation_exporter_executions_skipped_total counter server reason
  automation_exporter_execution_lag_seconds gauge server
  automation_exporter_ledger_entries gauge server
  automation_exporter_unknown_values_total counter server field
  automation_exporter_server_epoch gauge server
  automation_exporter_state_resets_total counter
  automation_exporter_traces_pending gauge server
  automation_exporter_traces_quarantined gauge
  automation_exporter_traces_degraded_total counter server reason
  automation_exporter_traces_skipped_total counter server reason
  automation_exporter_texts_cut_total counter server member api_endpoint
  automation_exporter_traceparent_invalid_total counter server
  automation_exporter_spans_exported_total counter
  automation_exporter_spans_rejected_total counter reason
  automation_exporter_spool_traces gauge
  automation_exporter_spool_bytes gauge
  automation_exporter_spool_oldest_timestamp_seconds gauge
  automation_exporter_config_last_reload_successful gauge
  automation_exporter_config_last_reload_timestamp_seconds gauge
`;

/** Executions tell of averages where they are on, jobs where they are off. */
const ofTwoCollectors = ['automation_job_average_duration_seconds'];

const states = `
automation_execution_mode mode
automation_project_execution_mode mode
automation_job_last_status status
`;

const ownFamilies = toOwnFamilies(createSelf({ version: '', nodeVersion: '' }).registry);
const watchedFamilies = collectors.flatMap(({ metrics }) => Object.values(metrics));

function toLine({ name, type, labels }: (typeof watchedFamilies)[number]): string {
  return ['', '', name, type, ...labels].join(' ');
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

describe('collectors, the contract', () => {
  it('has these collectors with these families, types, labels and defaults, and no others', () => {
    const lines = collectors.flatMap(({ name, on, perMember, vital, metrics }) => [
      [name, on ? 'on' : 'off', ...(perMember ? ['m'] : []), ...(vital ? ['v'] : [])].join(' '),
      ...Object.values(metrics).map(toLine),
    ]);
    expect(lines).toEqual(linesOf(watched));
  });

  it('has these families of its own, and no others', () => {
    expect(ownFamilies.map(toLine).toSorted()).toEqual(linesOf(own).toSorted());
  });

  it('gives each family to one collector, but for the one that moves', () => {
    const names = [...watchedFamilies, ...ownFamilies].map(({ name }) => name);
    const twice = names.filter((name, index) => names.indexOf(name) !== index);
    expect(twice).toEqual(ofTwoCollectors);
  });

  it('says where each number comes from, in brackets at the end', () => {
    const silent = watchedFamilies.filter(({ help }) => !/^[A-Z].*[^.] \[[^[\]]+\]\.$/.test(help));
    expect(silent.map(({ name, help }) => [name, help])).toEqual([]);
  });

  it('shows all states of what has states, one of them 1', () => {
    const found = watchedFamilies.flatMap(({ name, stateLabel }) =>
      stateLabel === undefined ? [] : [name, stateLabel].join(' '),
    );
    expect(found.toSorted()).toEqual(linesOf(states).toSorted());
  });

  it('leaves the labels of targets to targets', () => {
    const taken = ['job', 'instance', 'endpoint', 'service', 'namespace', 'pod', 'type'];
    const found = [...watchedFamilies, ...ownFamilies].filter(({ labels }) =>
      labels.some((label) => taken.includes(label)),
    );
    expect(found.map(({ name }) => name)).toEqual([]);
  });

  it('ends counters, and nothing else, with total', () => {
    const odd = [...watchedFamilies, ...ownFamilies].filter(
      ({ name, type }) =>
        name.endsWith('_total') !== (type === 'counter') || name.endsWith('_info') !== (type === 'info'),
    );
    expect(odd.map(({ name }) => name)).toEqual([]);
  });
});
