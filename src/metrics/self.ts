import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createDeliveryInstruments } from './self-delivery.ts';

/** The daemon's metrics about itself, and about each watched server as a whole. */
export type Self = ReturnType<typeof createSelf>;

type Build = {
  readonly version: string;
  readonly nodeVersion: string;
  /** Whether the process is measured too; several in one process would each measure it. */
  readonly measuresProcess?: boolean;
};

export function createSelf({ measuresProcess = true, ...build }: Build) {
  const registry = new Registry();
  const registers = [registry];
  if (measuresProcess) collectDefaultMetrics({ register: registry });
  // Gauges whose names end like counters: promtool refuses them, and the plain ones say the same by kind.
  for (const kind of ['resources', 'handles', 'requests']) registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  // Names that hold their type: promtool refuses them too, and the lag says more.
  for (const type of ['histogram', 'summary']) registry.removeSingleMetric(`nodejs_eventloop_utilization_${type}`);

  // The member stays away where a server has none.
  const perServer = ['server', 'member'] as const;
  const perCollector = [...perServer, 'collector'] as const;
  const perEndpoint = [...perServer, 'api_endpoint'] as const;

  const buildInfo = new Gauge({
    name: 'automation_exporter_build_info',
    help: 'Version of the exporter and of its Node.js runtime.',
    labelNames: ['version', 'node_version'],
    registers,
  });
  buildInfo.set({ version: build.version, node_version: build.nodeVersion }, 1);

  return {
    registry,
    up: new Gauge({
      name: 'automation_up',
      help: 'Whether the last vital poll of the server received an authenticated response.',
      labelNames: perServer,
      registers,
    }),
    credentialsAccepted: new Gauge({
      name: 'automation_credentials_accepted',
      help: 'Whether the server accepts the credentials; absent until it has responded.',
      labelNames: perServer,
      registers,
    }),
    collectorSuccess: new Gauge({
      name: 'automation_exporter_collector_success',
      help: 'Whether the last poll of the collector succeeded; absent while the collector is off.',
      labelNames: perCollector,
      registers,
    }),
    collectorDuration: new Gauge({
      name: 'automation_exporter_collector_duration_seconds',
      help: 'Duration of the last poll of the collector.',
      labelNames: perCollector,
      registers,
    }),
    collectorLastSuccess: new Gauge({
      name: 'automation_exporter_collector_last_success_timestamp_seconds',
      help: 'Time of the last successful poll of the collector.',
      labelNames: perCollector,
      registers,
    }),
    collectorSeries: new Gauge({
      name: 'automation_exporter_collector_series',
      help: 'Number of series from the last successful poll of the collector.',
      labelNames: perCollector,
      registers,
    }),
    collectorEnabled: new Gauge({
      name: 'automation_exporter_collector_enabled',
      help: '1 if the collector is on; 0 if it is off, with the reason: config, version, denied, not_found, meaningless.',
      labelNames: [...perCollector, 'reason'],
      registers,
    }),
    seriesDropped: new Counter({
      name: 'automation_exporter_series_dropped_total',
      help: 'Reported series that were dropped, by reason: merged with another series, over the limit, or from several members behind one address.',
      labelNames: [...perCollector, 'reason'],
      registers,
    }),
    executionsObserved: new Counter({
      name: 'automation_exporter_executions_observed_total',
      help: 'Finished executions that have been counted.',
      labelNames: ['server'],
      registers,
    }),
    executionsLate: new Counter({
      name: 'automation_exporter_executions_late_total',
      help: 'Counted executions that the regular reads missed and a later recount found.',
      labelNames: ['server'],
      registers,
    }),
    executionsImported: new Counter({
      name: 'automation_exporter_executions_imported_total',
      help: 'Executions that were imported into the server after they had ended elsewhere; other metrics do not include them.',
      labelNames: ['server'],
      registers,
    }),
    executionsUnmeasured: new Counter({
      name: 'automation_exporter_executions_unmeasured_total',
      help: 'Counted executions without a duration, by reason.',
      labelNames: ['server', 'reason'],
      registers,
    }),
    executionsSkipped: new Counter({
      name: 'automation_exporter_executions_skipped_total',
      help: 'Executions that were skipped because they ended before the catch-up limit, by reason; too_large means that a single execution exceeds the size limit of responses.',
      labelNames: ['server', 'reason'],
      registers,
    }),
    executionLag: new Gauge({
      name: 'automation_exporter_execution_lag_seconds',
      help: "Lag of the project that is furthest behind the server's clock; projects that cannot be read are not included.",
      labelNames: ['server'],
      registers,
    }),
    ledgerEntries: new Gauge({
      name: 'automation_exporter_ledger_entries',
      help: 'Finished executions kept to recognise duplicates.',
      labelNames: ['server'],
      registers,
    }),
    tracesPending: new Gauge({
      name: 'automation_exporter_traces_pending',
      help: 'Counted executions that wait for their steps before their trace is created.',
      labelNames: ['server'],
      registers,
    }),
    tracesDegraded: new Counter({
      name: 'automation_exporter_traces_degraded_total',
      help: 'Traces that are incomplete, by reason.',
      labelNames: ['server', 'reason'],
      registers,
    }),
    tracesSkipped: new Counter({
      name: 'automation_exporter_traces_skipped_total',
      help: 'Counted executions without a trace, by reason.',
      labelNames: ['server', 'reason'],
      registers,
    }),
    traceparentInvalid: new Counter({
      name: 'automation_exporter_traceparent_invalid_total',
      help: 'Executions whose trace context option held an invalid value.',
      labelNames: ['server'],
      registers,
    }),
    stateResets: new Counter({
      name: 'automation_exporter_state_resets_total',
      help: 'Number of times the state or a part of it was found damaged or lost: the last backup was restored, counting restarted from the beginning, or the part was quarantined.',
      registers,
    }),
    unknownValues: new Counter({
      name: 'automation_exporter_unknown_values_total',
      help: 'Unknown enum values in API responses and executions that cannot be read, by field.',
      labelNames: ['server', 'field'],
      registers,
    }),
    textsCut: new Counter({
      name: 'automation_exporter_texts_cut_total',
      help: 'Texts in API responses that were truncated to 1024 characters.',
      labelNames: perEndpoint,
      registers,
    }),
    serverEpoch: new Gauge({
      name: 'automation_exporter_server_epoch',
      help: 'Number of times the execution ids of the server have started from the beginning, including the first.',
      labelNames: ['server'],
      registers,
    }),
    ...createDeliveryInstruments(registers),
    lastReloadSuccessful: new Gauge({
      name: 'automation_exporter_config_last_reload_successful',
      help: 'Whether the last configuration reload succeeded; after a failed reload, the previous configuration stays in force.',
      registers,
    }),
    lastReloadTimestamp: new Gauge({
      name: 'automation_exporter_config_last_reload_timestamp_seconds',
      help: 'Time of the last successful configuration reload.',
      registers,
    }),
    apiRequests: new Counter({
      name: 'automation_exporter_api_requests_total',
      help: "Requests to the server's API by HTTP status code; code is none if no response arrived.",
      labelNames: [...perEndpoint, 'code'],
      registers,
    }),
    apiDuration: new Histogram({
      name: 'automation_exporter_api_request_duration_seconds',
      help: "Duration of requests to the server's API.",
      labelNames: perEndpoint,
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    apiErrors: new Counter({
      name: 'automation_exporter_api_errors_total',
      help: "Requests to the server's API without a usable response, by kind of error.",
      labelNames: [...perEndpoint, 'kind'],
      registers,
    }),
    apiInFlight: new Gauge({
      name: 'automation_exporter_api_inflight',
      help: "Requests to the server's API that are in progress.",
      labelNames: perServer,
      registers,
    }),
    apiBudgetWait: new Counter({
      name: 'automation_exporter_api_budget_wait_seconds_total',
      help: 'Time that requests waited for the request budget.',
      labelNames: perServer,
      registers,
    }),
    fileChanges: new Counter({
      name: 'automation_exporter_credential_file_changes_total',
      help: 'Changed credential and certificate files, by result: taken (the new content is in use) or rejected (the previous content stays in use).',
      labelNames: [...perServer, 'kind', 'result'],
      registers,
    }),
    circuitOpen: new Gauge({
      name: 'automation_exporter_circuit_open',
      help: 'Whether the circuit breaker is open: only probes are sent because the server repeatedly did not respond.',
      labelNames: perServer,
      registers,
    }),
  };
}
