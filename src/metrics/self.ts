import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createDeliveryInstruments } from './self-delivery.ts';

/** What the daemon says about itself, and about each watched server as a whole. */
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
    help: 'The version of the exporter and of its runtime.',
    labelNames: ['version', 'node_version'],
    registers,
  });
  buildInfo.set({ version: build.version, node_version: build.nodeVersion }, 1);

  return {
    registry,
    up: new Gauge({
      name: 'automation_up',
      help: 'Whether the last vital poll of the server got an authenticated answer.',
      labelNames: perServer,
      registers,
    }),
    credentialsAccepted: new Gauge({
      name: 'automation_credentials_accepted',
      help: '0 while the server refuses the credentials; absent until it has answered at all.',
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
      help: 'How long the last poll of the collector took.',
      labelNames: perCollector,
      registers,
    }),
    collectorLastSuccess: new Gauge({
      name: 'automation_exporter_collector_last_success_timestamp_seconds',
      help: 'When the collector last succeeded.',
      labelNames: perCollector,
      registers,
    }),
    collectorSeries: new Gauge({
      name: 'automation_exporter_collector_series',
      help: 'Series that the last successful poll of the collector gave.',
      labelNames: perCollector,
      registers,
    }),
    collectorEnabled: new Gauge({
      name: 'automation_exporter_collector_enabled',
      help: '1 where the collector runs; 0 with the reason where it is off: config, version, denied, not_found, meaningless.',
      labelNames: [...perCollector, 'reason'],
      registers,
    }),
    seriesDropped: new Counter({
      name: 'automation_exporter_series_dropped_total',
      help: 'Series that a poll left out although the server told of them: merged with another, over the cap, or of several members behind one address.',
      labelNames: [...perCollector, 'reason'],
      registers,
    }),
    executionsObserved: new Counter({
      name: 'automation_exporter_executions_observed_total',
      help: 'Finished executions that were counted.',
      labelNames: ['server'],
      registers,
    }),
    executionsLate: new Counter({
      name: 'automation_exporter_executions_late_total',
      help: 'Counted executions that the rounds had missed and a later pass found.',
      labelNames: ['server'],
      registers,
    }),
    executionsImported: new Counter({
      name: 'automation_exporter_executions_imported_total',
      help: 'Executions that were brought into the server after they had ended elsewhere; they are counted nowhere else.',
      labelNames: ['server'],
      registers,
    }),
    executionsUnmeasured: new Counter({
      name: 'automation_exporter_executions_unmeasured_total',
      help: 'Counted executions without a duration, by the reason.',
      labelNames: ['server', 'reason'],
      registers,
    }),
    executionsSkipped: new Counter({
      name: 'automation_exporter_executions_skipped_total',
      help: 'Executions that were not read: too long ago, by why they were not read in time, or too_large (one alone is larger than an answer may be).',
      labelNames: ['server', 'reason'],
      registers,
    }),
    executionLag: new Gauge({
      name: 'automation_exporter_execution_lag_seconds',
      help: "How far behind the server's clock the project is that was read longest ago; projects that can not be read are left out.",
      labelNames: ['server'],
      registers,
    }),
    ledgerEntries: new Gauge({
      name: 'automation_exporter_ledger_entries',
      help: 'Finished executions that are known again by their ids.',
      labelNames: ['server'],
      registers,
    }),
    tracesPending: new Gauge({
      name: 'automation_exporter_traces_pending',
      help: 'Counted executions that wait for their steps before they become a trace.',
      labelNames: ['server'],
      registers,
    }),
    tracesDegraded: new Counter({
      name: 'automation_exporter_traces_degraded_total',
      help: 'Traces that tell less than they could, by the reason.',
      labelNames: ['server', 'reason'],
      registers,
    }),
    tracesSkipped: new Counter({
      name: 'automation_exporter_traces_skipped_total',
      help: 'Counted executions that became no trace, by the reason.',
      labelNames: ['server', 'reason'],
      registers,
    }),
    traceparentInvalid: new Counter({
      name: 'automation_exporter_traceparent_invalid_total',
      help: 'Executions whose option for the trace context held something else.',
      labelNames: ['server'],
      registers,
    }),
    stateResets: new Counter({
      name: 'automation_exporter_state_resets_total',
      help: 'How often the state, or a part of it, was found damaged or lost: its last copy was restored, counting started anew, or the part was quarantined.',
      registers,
    }),
    unknownValues: new Counter({
      name: 'automation_exporter_unknown_values_total',
      help: 'Words in answers that are not known, and executions that cannot be read, by the field that is to blame.',
      labelNames: ['server', 'field'],
      registers,
    }),
    textsCut: new Counter({
      name: 'automation_exporter_texts_cut_total',
      help: 'Names and other texts of more than 1024 characters in answers, of which the beginning is used.',
      labelNames: perEndpoint,
      registers,
    }),
    serverEpoch: new Gauge({
      name: 'automation_exporter_server_epoch',
      help: 'How often the ids of the server have started again, the first time included.',
      labelNames: ['server'],
      registers,
    }),
    ...createDeliveryInstruments(registers),
    lastReloadSuccessful: new Gauge({
      name: 'automation_exporter_config_last_reload_successful',
      help: 'Whether the last attempt to read the configuration succeeded; a failed one leaves the old configuration in force.',
      registers,
    }),
    lastReloadTimestamp: new Gauge({
      name: 'automation_exporter_config_last_reload_timestamp_seconds',
      help: 'When the configuration in force was read.',
      registers,
    }),
    apiRequests: new Counter({
      name: 'automation_exporter_api_requests_total',
      help: "Requests to the server's API by HTTP status; code none where no answer arrived.",
      labelNames: [...perEndpoint, 'code'],
      registers,
    }),
    apiDuration: new Histogram({
      name: 'automation_exporter_api_request_duration_seconds',
      help: "Time of requests to the server's API.",
      labelNames: perEndpoint,
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    apiErrors: new Counter({
      name: 'automation_exporter_api_errors_total',
      help: "Requests to the server's API that brought no usable answer, by the kind of fault.",
      labelNames: [...perEndpoint, 'kind'],
      registers,
    }),
    apiInFlight: new Gauge({
      name: 'automation_exporter_api_inflight',
      help: "Requests to the server's API that are under way.",
      labelNames: perServer,
      registers,
    }),
    apiBudgetWait: new Counter({
      name: 'automation_exporter_api_budget_wait_seconds_total',
      help: 'Time that requests waited for their turn within the budget.',
      labelNames: perServer,
      registers,
    }),
    fileChanges: new Counter({
      name: 'automation_exporter_credential_file_changes_total',
      help: 'Changed files of credentials or certificates, by whether they are in use now (taken) or of no use (rejected): then what they held before stays in use.',
      labelNames: [...perServer, 'files', 'result'],
      registers,
    }),
    circuitOpen: new Gauge({
      name: 'automation_exporter_circuit_open',
      help: 'Whether requests are held back, but for probes, since the server did not answer several times in a row.',
      labelNames: perServer,
      registers,
    }),
  };
}
