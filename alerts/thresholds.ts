/** Every number of the alert rules. Durations are Prometheus durations. */
export interface Thresholds {
  /** Where the exporter answers; it replaces this placeholder by its own external URL when it serves the rules. */
  readonly baseUrl: string;
  /** The page that opens from an alert; a Grafana address fits here too. */
  readonly dashboardUrl: string;
  /** The `job` label under which Prometheus scrapes the exporter. */
  readonly exporterJob: string;
  readonly evaluationInterval: string;

  readonly serviceDownFor: string;
  readonly credentialsRejectedFor: string;
  readonly passiveFor: string;
  readonly passiveBrieflyWindow: string;
  readonly healthcheckFailingFor: string;

  readonly logStorageWindow: string;
  readonly logStorageFailingFor: string;
  /** Failed requests in the window, and their share of all requests in it: both must be reached. */
  readonly logStorageFailedRequests: number;
  readonly logStorageFailedRatio: number;
  readonly logStorageBacklogRequests: number;
  readonly logStorageBacklogFor: string;
  readonly logStorageMissingFor: string;

  readonly restartWindow: string;
  /** A start time that moves by less is a rounding of the server, not a restart. */
  readonly restartSeconds: number;
  readonly memoryWindow: string;
  readonly memoryUsedRatio: number;
  readonly memoryLowFor: string;
  readonly clockSkewSeconds: number;
  readonly clockSkewedFor: string;
  readonly schedulerWindow: string;
  readonly schedulerUsedRatio: number;
  readonly schedulerSaturatedFor: string;

  /** Failures of a job in a row. */
  readonly jobConsecutiveFailures: number;
  readonly jobFailingFor: string;
  readonly jobNoRecentSuccessFor: string;
  readonly executionOverdueFor: string;
  /** A lag that rotation by itself does not cause; alerts on finished executions are silent beyond it. */
  readonly executionLagSeconds: number;
  readonly executionsLaggingFor: string;
  readonly executionsHiddenFor: string;

  readonly collectorFailingFor: string;
  readonly collectorDeniedFor: string;
  readonly exporterDownFor: string;
  readonly configReloadFailedFor: string;
  readonly seriesDroppedWindow: string;
  readonly seriesDroppedFor: string;
  /** A trace that has waited for longer than this is not delivered. */
  readonly traceOldestSeconds: number;
  readonly spansRejectedWindow: string;
  readonly tracesNotDeliveredFor: string;
  readonly heldUpWindow: string;
  /** A time without any progress, at a stretch, that no work of the exporter's own takes. */
  readonly heldUpSeconds: number;
  readonly heldUpFor: string;
}

export const defaultThresholds: Thresholds = {
  baseUrl: 'http://localhost:9720',
  dashboardUrl: 'http://localhost:9720/dashboards/',
  exporterJob: 'automation-exporter',
  evaluationInterval: '30s',

  serviceDownFor: '2m',
  credentialsRejectedFor: '2m',
  passiveFor: '5m',
  passiveBrieflyWindow: '10m',
  healthcheckFailingFor: '5m',

  logStorageWindow: '30m',
  logStorageFailingFor: '5m',
  logStorageFailedRequests: 2,
  logStorageFailedRatio: 0.1,
  logStorageBacklogRequests: 50,
  logStorageBacklogFor: '30m',
  logStorageMissingFor: '30m',

  restartWindow: '30m',
  restartSeconds: 60,
  memoryWindow: '30m',
  memoryUsedRatio: 0.9,
  memoryLowFor: '15m',
  clockSkewSeconds: 30,
  clockSkewedFor: '10m',
  schedulerWindow: '10m',
  schedulerUsedRatio: 0.95,
  schedulerSaturatedFor: '5m',

  jobConsecutiveFailures: 3,
  jobFailingFor: '0s',
  jobNoRecentSuccessFor: '5m',
  executionOverdueFor: '10m',
  // Twice the longest that an idle project waits for its turn.
  executionLagSeconds: 1800,
  executionsLaggingFor: '10m',
  executionsHiddenFor: '15m',

  collectorFailingFor: '10m',
  collectorDeniedFor: '10m',
  exporterDownFor: '5m',
  configReloadFailedFor: '5m',
  seriesDroppedWindow: '15m',
  seriesDroppedFor: '15m',
  traceOldestSeconds: 900,
  spansRejectedWindow: '15m',
  tracesNotDeliveredFor: '15m',
  heldUpWindow: '5m',
  heldUpSeconds: 1,
  heldUpFor: '10m',
};
