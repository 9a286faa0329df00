import { Registry } from 'prom-client';
import { counter, gauge, histogram, measureProcess } from './instrument.ts';

/** The exporter's metrics about itself and about each watched server as a whole. */
export type Self = { readonly registry: Registry } & Instruments;

type Build = { version: string; nodeVersion: string; measuresProcess?: boolean };

export function createSelf({ measuresProcess = true, version, nodeVersion }: Build): Self {
  const registry = new Registry();
  if (measuresProcess) measureProcess(registry);
  const made = Object.entries(instruments).map(([name, make]) => [name, make(registry)] as const);
  // This cast is safe: each entry makes the instrument with its name.
  const self = { registry, ...(Object.fromEntries(made) as Instruments) };
  self.buildInfo.set({ version, node_version: nodeVersion }, 1);
  return self;
}

// The label is absent if a server has no members.
const perServer = ['server', 'member'] as const;
const perCollector = [...perServer, 'collector'] as const;
const perEndpoint = [...perServer, 'api_endpoint'] as const;

type Instruments = { readonly [Name in keyof typeof instruments]: ReturnType<(typeof instruments)[Name]> };

const instruments = {
  buildInfo: gauge({
    name: 'automation_exporter_build_info',
    help: 'Version of the exporter and of its Node.js runtime.',
    labelNames: ['version', 'node_version'],
  }),
  up: gauge({
    name: 'automation_up',
    help: 'Whether the server responds to system-info and execution-mode and accepts the credentials; a single timeout does not make the value 0, two in a row do.',
    labelNames: perServer,
  }),
  credentialsAccepted: gauge({
    name: 'automation_credentials_accepted',
    help: 'Whether the server accepts the credentials; absent until it has responded.',
    labelNames: perServer,
  }),
  collectorSuccess: gauge({
    name: 'automation_exporter_collector_success',
    help: 'Whether the last poll of the collector succeeded; absent while the collector is off.',
    labelNames: perCollector,
  }),
  collectorDuration: gauge({
    name: 'automation_exporter_collector_duration_seconds',
    help: 'Duration of the last poll of the collector; collectors that read project by project spread their requests over the interval.',
    labelNames: perCollector,
  }),
  collectorLastSuccess: gauge({
    name: 'automation_exporter_collector_last_success_timestamp_seconds',
    help: 'Time of the last successful poll of the collector.',
    labelNames: perCollector,
  }),
  collectorInterval: gauge({
    name: 'automation_exporter_collector_interval_seconds',
    help: 'Interval of the collector; absent while the collector is off.',
    labelNames: perCollector,
  }),
  collectorSeries: gauge({
    name: 'automation_exporter_collector_series',
    help: 'Number of series from the last successful poll of the collector.',
    labelNames: perCollector,
  }),
  collectorEnabled: gauge({
    name: 'automation_exporter_collector_enabled',
    help: '1 if the collector is on; 0 if it is off, by reason: config (switched off), version (the API is too old), denied, not_found, meaningless (the server has no such value).',
    labelNames: [...perCollector, 'reason'],
  }),
  seriesDropped: counter({
    name: 'automation_exporter_series_dropped_total',
    help: 'Reported series that were dropped, by reason: merged (same labels as another series), cap (over the limit), several_members (counters of members behind one address).',
    labelNames: [...perCollector, 'reason'],
  }),
  executionsObserved: counter({
    name: 'automation_exporter_executions_observed_total',
    help: 'Finished executions that have been counted.',
    labelNames: ['server'],
  }),
  executionsLate: counter({
    name: 'automation_exporter_executions_late_total',
    help: 'Counted executions that the server showed late, so that only a comparison with its totals found them.',
    labelNames: ['server'],
  }),
  executionsImported: counter({
    name: 'automation_exporter_executions_imported_total',
    help: 'Executions that were imported into the server after they had ended elsewhere; other metrics do not include them.',
    labelNames: ['server'],
  }),
  executionsUnmeasured: counter({
    name: 'automation_exporter_executions_unmeasured_total',
    help: 'Counted executions without a duration, by reason: no_start (the server reports no start), negative (the end is before the start).',
    labelNames: ['server', 'reason'],
  }),
  executionsSkipped: counter({
    name: 'automation_exporter_executions_skipped_total',
    help: 'Executions that were not counted, by reason: too_large (a single execution exceeds the size limit of responses); or why the project was not read for longer than executions.catch_up_limit: outage, disabled, hidden, missing, excluded.',
    labelNames: ['server', 'reason'],
  }),
  executionLag: gauge({
    name: 'automation_exporter_execution_lag_seconds',
    help: "Lag of the project that is furthest behind the server's clock; projects that cannot be read are not included.",
    labelNames: ['server'],
  }),
  ledgerEntries: gauge({
    name: 'automation_exporter_ledger_entries',
    help: 'Finished executions that are stored to recognize duplicates.',
    labelNames: ['server'],
  }),
  tracesPending: gauge({
    name: 'automation_exporter_traces_pending',
    help: 'Counted executions that wait for their steps before their trace is created.',
    labelNames: ['server'],
  }),
  tracesDegraded: counter({
    name: 'automation_exporter_traces_degraded_total',
    help: 'Traces without some or all steps, by reason: backlog (waited too long, or more than 10,000 waited), seal_timeout (not reported in time), too_large (the steps cannot be read).',
    labelNames: ['server', 'reason'],
  }),
  tracesSkipped: counter({
    name: 'automation_exporter_traces_skipped_total',
    help: 'Counted executions without a trace, by reason: max_age and max_pending (limits of the configuration), no_trace (no trace can be created from the response).',
    labelNames: ['server', 'reason'],
  }),
  traceparentInvalid: counter({
    name: 'automation_exporter_traceparent_invalid_total',
    help: 'Executions whose trace context option had an invalid value.',
    labelNames: ['server'],
  }),
  stateResets: counter({
    name: 'automation_exporter_state_resets_total',
    help: 'How often the state, or a part of the state, was damaged or lost. The last backup was restored, counting began again, or the part was quarantined.',
  }),
  stateUp: gauge({
    name: 'automation_exporter_state_up',
    help: 'Whether the database that replicas share answered the last request; absent if the state is a file.',
    startsAbsent: true,
  }),
  stateCommitDuration: histogram({
    name: 'automation_exporter_state_commit_duration_seconds',
    help: 'Duration of writes to the database that replicas share; absent if the state is a file.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    startsAbsent: true,
  }),
  leaseOwned: gauge({
    name: 'automation_exporter_lease_owned',
    help: 'Whether this replica owns the server, and so watches it; absent if the state is a file.',
    labelNames: ['server'],
  }),
  leaseEpoch: gauge({
    name: 'automation_exporter_lease_epoch',
    help: 'Number of times that any replica has acquired the server; absent if this replica does not own the server.',
    labelNames: ['server'],
  }),
  leaseTakeovers: counter({
    name: 'automation_exporter_lease_takeovers_total',
    help: 'Number of times that this replica has acquired the server.',
    labelNames: ['server'],
  }),
  configDiffers: gauge({
    name: 'automation_exporter_config_differs',
    help: 'Whether another replica that owns servers has had a different configuration for a minute; absent if the state is a file.',
    startsAbsent: true,
  }),
  unknownValues: counter({
    name: 'automation_exporter_unknown_values_total',
    help: 'Unknown enum values in API responses, and unreadable executions, by field.',
    labelNames: ['server', 'field'],
  }),
  textsCut: counter({
    name: 'automation_exporter_texts_cut_total',
    help: 'Texts in API responses that were truncated to 1024 characters.',
    labelNames: perEndpoint,
  }),
  serverEpoch: gauge({
    name: 'automation_exporter_server_epoch',
    help: 'Is 1, plus 1 for each time that the execution ids of the server restarted from the beginning, for example with a new database.',
    labelNames: ['server'],
  }),
  spansExported: counter({
    name: 'automation_exporter_spans_exported_total',
    help: 'Spans accepted by the trace backend.',
    startsAbsent: true,
  }),
  spoolTraces: gauge({
    name: 'automation_exporter_spool_traces',
    help: 'Finished traces and requests with log records that wait for delivery, without quarantined ones.',
    startsAbsent: true,
  }),
  spoolBytes: gauge({
    name: 'automation_exporter_spool_bytes',
    help: 'Size of the traces and log records that wait for delivery.',
    startsAbsent: true,
  }),
  spoolOldest: gauge({
    name: 'automation_exporter_spool_oldest_timestamp_seconds',
    help: 'Time at which the oldest waiting trace or log record was finished; absent while none waits.',
    startsAbsent: true,
  }),
  tracesQuarantined: gauge({
    name: 'automation_exporter_traces_quarantined',
    help: 'Quarantined traces and requests with log records: the backend rejected or never acknowledged them individually. Quarantined items stay until retried or dropped.',
    startsAbsent: true,
  }),
  spansRejected: counter({
    name: 'automation_exporter_spans_rejected_total',
    help: 'Spans that did not reach the trace backend, by reason: partial_success (other spans of the request were accepted), refused or unanswered (their trace is quarantined), dropped (from the quarantine: by hand, or because it was full).',
    labelNames: ['reason'],
  }),
  logLines: counter({
    name: 'automation_exporter_log_lines_total',
    help: 'Log lines of failed executions, and events of changes, by result: sent or dropped. Reasons of dropped: execution_limit (50 lines or 16 KiB of one execution), hour_limit (diagnosis.log_bytes_per_hour), spool_full (half of the spool), partial_success (other records of the request were accepted), quarantine (by hand, or because it was full).',
    labelNames: ['result', 'reason'],
  }),
  logRedactions: counter({
    name: 'automation_exporter_log_redactions_total',
    help: 'Secrets that were removed from lines of logs before they were shown or sent.',
    labelNames: ['server'],
  }),
  metricsPushes: counter({
    name: 'automation_exporter_metrics_pushes_total',
    help: 'Pushes of metrics to an OTLP endpoint, by result: delivered, partial (some points were rejected), refused (by the endpoint), failed (no response, or a temporary error).',
    labelNames: ['result'],
  }),
  metricsPointsRejected: counter({
    name: 'automation_exporter_metrics_points_rejected_total',
    help: 'Lost points of pushed metrics, by reason: partial_success (other points of the request were accepted), refused (with the whole request), unanswered (may have arrived). The last two occur only with delta: cumulative points are sent again.',
    labelNames: ['reason'],
  }),
  pagesForgotten: counter({
    name: 'automation_exporter_execution_pages_forgotten_total',
    help: 'Execution pages removed from memory, by reason: count (more than 1,000 pages), bytes (more than 32 MB), too_large (a single page exceeds 32 MB), configuration (options changed what pages may show).',
    labelNames: ['reason'],
  }),
  lastReloadSuccessful: gauge({
    name: 'automation_exporter_config_last_reload_successful',
    help: 'Whether the last configuration reload succeeded; after a failed reload, the previous configuration stays in force.',
  }),
  lastReloadTimestamp: gauge({
    name: 'automation_exporter_config_last_reload_timestamp_seconds',
    help: 'Time of the last successful configuration reload.',
  }),
  apiRequests: counter({
    name: 'automation_exporter_api_requests_total',
    help: "Requests to the server's API by HTTP status code; code is none if no response arrived.",
    labelNames: [...perEndpoint, 'code'],
  }),
  apiDuration: histogram({
    name: 'automation_exporter_api_request_duration_seconds',
    help: "Duration of requests to the server's API.",
    labelNames: perEndpoint,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  }),
  apiErrors: counter({
    name: 'automation_exporter_api_errors_total',
    help: "Requests to the server's API without a usable response, by kind of error; a response that reports a missing project or item counts as usable.",
    labelNames: [...perEndpoint, 'kind'],
  }),
  apiInFlight: gauge({
    name: 'automation_exporter_api_inflight',
    help: "Requests to the server's API that are in progress.",
    labelNames: perServer,
  }),
  apiBudgetWait: counter({
    name: 'automation_exporter_api_budget_wait_seconds_total',
    help: 'Time that requests waited for the request budget.',
    labelNames: perServer,
  }),
  fileChanges: counter({
    name: 'automation_exporter_credential_file_changes_total',
    help: 'Changed credential and certificate files, by result: taken (the new content is in use) or rejected (the previous content stays in use).',
    labelNames: [...perServer, 'kind', 'result'],
  }),
  circuitOpen: gauge({
    name: 'automation_exporter_circuit_open',
    help: 'Whether the exporter sends only probes to the server, because the server repeatedly did not respond.',
    labelNames: perServer,
  }),
};
