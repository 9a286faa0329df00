import { formatDuration } from '../src/config/values/duration.ts';
import { lateMs } from '../src/expected-runs/deciding/hours.ts';
import { executionLimits, scheduleLimits, serverLimits } from '../src/status/limits.ts';

/** Every number of the alert rules. Durations are Prometheus durations. */
export interface Thresholds {
  /** Where the exporter answers; it replaces this placeholder by its own external URL when it serves the rules. */
  readonly baseUrl: string;
  /** Where Grafana answers, with the dashboards of this repository. */
  readonly grafanaUrl: string;
  /** The `job` label under which Prometheus scrapes the exporter. */
  readonly exporterJob: string;
  /** The collectors that only administrators may have, as a pattern. */
  readonly administratorCollectors: string;
  readonly evaluationInterval: string;
  /** For alerts over many hours. */
  readonly slowEvaluationInterval: string;
  /** The labels that tell exporters apart that watch the same server. */
  readonly replicaLabels: string;
  /** How long a value outlives a scrape that fails: longer than a restart of the exporter and than two long scrape intervals. */
  readonly gapWindow: string;

  readonly serviceDownFor: string;
  /** Errors in this time are the cause. */
  readonly causeWindow: string;
  readonly credentialsRejectedFor: string;
  readonly passiveFor: string;
  readonly passiveBrieflyWindow: string;
  /** How long a passive mode that was critical is remembered; longer than the window above. */
  readonly passiveLongWindow: string;
  readonly healthcheckFailingFor: string;

  readonly logStorageWindow: string;
  /** Logs are stored again when one was, and none failed, in this time. */
  readonly logStorageRecoveredWindow: string;
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
  /** How long before its end a token is reported. */
  readonly tokenExpirySeconds: number;
  readonly tokenExpiringFor: string;

  /** Failures of a job in a row. */
  readonly jobConsecutiveFailures: number;
  /** The same where the cause is known: a node that is not reached, a key that is refused. */
  readonly jobFailuresOfCause: number;
  readonly jobFailingFor: string;
  readonly jobNoRecentSuccessFor: string;
  readonly executionOverdueFor: string;
  /** Failures on one node, its share of all failures on nodes of the project, and the jobs that fail now. */
  readonly nodeWindow: string;
  readonly nodeFailures: number;
  readonly nodeFailureRatio: number;
  readonly nodeFailingJobs: number;
  readonly nodeFailingFor: string;
  /** The time after an alert about a node, in which a job that has not run since is not reported for its failures there. */
  readonly nodeToldWindow: string;
  /** Runs in this time that all took longer than the average, by this factor and at least this long. */
  readonly durationFactor: number;
  readonly durationShiftSeconds: number;
  /** Misses and delays within this time. */
  readonly scheduleWindow: string;
  readonly scheduleMissedFor: string;
  readonly scheduleLateSeconds: number;
  readonly scheduleLateFor: string;
  readonly scheduleSaturationFor: string;
  readonly runsAtRiskFor: string;
  readonly runsAtRiskSoonSeconds: number;
  readonly jobDisabledSeconds: number;
  readonly jobDisabledFor: string;
  /** A lag that rotation by itself does not cause; alerts on finished executions are silent beyond it. */
  readonly executionLagSeconds: number;
  readonly executionsLaggingFor: string;
  readonly executionsHiddenFor: string;
  /** Imports in this time and in the same time before, without a counted execution in both. */
  readonly importsWindow: string;
  /** Longer than it takes to read an archive that was imported. */
  readonly executionsImportedFor: string;

  /** The share of executions that has to end well. */
  readonly executionsObjective: number;
  /** The share of expected times that has to have a run that starts in time. */
  readonly punctualityObjective: number;
  /** Fewer failures than this do not fire, however large their share. */
  readonly burnFailures: number;
  readonly burnFastFor: string;
  readonly burnSlowFor: string;
  /** The time after an alert that names the cause of misses, in which the budget of punctuality does not page for them. */
  readonly punctualityToldWindow: string;

  readonly collectorFailingFor: string;
  readonly collectorDeniedFor: string;
  readonly exporterDownFor: string;
  readonly configReloadFailedFor: string;
  readonly noOwnerFor: string;
  readonly stateDownFor: string;
  /** Longer than exporters take to be updated one after the other. */
  readonly configDiffersFor: string;
  /** More changes of the owner than this within the window. */
  readonly leaseFlaps: number;
  readonly leaseFlapsWindow: string;
  readonly leaseFlappingFor: string;
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

  /** Alerts that are left out. */
  readonly off: readonly string[];
}

export const defaultThresholds: Thresholds = {
  baseUrl: 'http://localhost:9720',
  grafanaUrl: 'http://localhost:3000',
  exporterJob: 'automation-exporter',
  administratorCollectors: 'project-modes|user-classes|users',
  evaluationInterval: '30s',
  slowEvaluationInterval: '5m',
  replicaLabels: 'instance, pod',
  gapWindow: '3m',

  serviceDownFor: '2m',
  causeWindow: '5m',
  credentialsRejectedFor: '2m',
  passiveFor: '5m',
  passiveBrieflyWindow: formatDuration(serverLimits.recentlyMs),
  passiveLongWindow: '20m',
  healthcheckFailingFor: '5m',

  logStorageWindow: '30m',
  logStorageRecoveredWindow: '10m',
  logStorageFailingFor: '5m',
  logStorageFailedRequests: 2,
  logStorageFailedRatio: 0.1,
  logStorageBacklogRequests: 50,
  logStorageBacklogFor: '30m',
  logStorageMissingFor: '30m',

  restartWindow: '30m',
  restartSeconds: serverLimits.restartSeconds,
  memoryWindow: formatDuration(serverLimits.memoryWindowMs),
  memoryUsedRatio: serverLimits.memoryUsedRatio,
  memoryLowFor: '15m',
  clockSkewSeconds: serverLimits.clockSkewSeconds,
  clockSkewedFor: '10m',
  schedulerWindow: formatDuration(serverLimits.schedulerWindowMs),
  schedulerUsedRatio: serverLimits.schedulerUsedRatio,
  schedulerSaturatedFor: '1m',
  tokenExpirySeconds: 7 * 86_400,
  tokenExpiringFor: '15m',

  jobConsecutiveFailures: executionLimits.consecutiveFailures,
  jobFailuresOfCause: 2,
  jobFailingFor: '0s',
  jobNoRecentSuccessFor: '5m',
  // A run only counts as overdue after a time of its own.
  executionOverdueFor: '5m',
  nodeWindow: formatDuration(executionLimits.nodeWindowMs),
  nodeFailures: executionLimits.nodeFailures,
  nodeFailureRatio: executionLimits.nodeFailureRatio,
  nodeFailingJobs: executionLimits.nodeFailingJobs,
  nodeFailingFor: '5m',
  nodeToldWindow: '6h',
  durationFactor: executionLimits.durationFactor,
  durationShiftSeconds: executionLimits.durationShiftMs / 1000,
  scheduleWindow: formatDuration(scheduleLimits.windowMs),
  scheduleMissedFor: '0s',
  scheduleLateSeconds: lateMs / 1000,
  scheduleLateFor: '10m',
  scheduleSaturationFor: '15m',
  // Most trouble has an alert of its own, which fires at once: this one is about trouble that nobody mends.
  runsAtRiskFor: '1h',
  runsAtRiskSoonSeconds: scheduleLimits.soonMs / 1000,
  jobDisabledSeconds: scheduleLimits.offMs / 1000,
  jobDisabledFor: '15m',
  // Twice the longest that an idle project waits for its turn.
  executionLagSeconds: executionLimits.lagSeconds,
  executionsLaggingFor: '10m',
  // As long as an idle project waits for its turn, so that a second reading agrees.
  executionsHiddenFor: '15m',
  importsWindow: formatDuration(executionLimits.importsWindowMs),
  executionsImportedFor: '1h',

  executionsObjective: executionLimits.objective,
  punctualityObjective: scheduleLimits.objective,
  burnFailures: executionLimits.burnFailures,
  burnFastFor: '2m',
  burnSlowFor: '15m',
  // The short window of the burn rate and the margin after which a run is missed.
  punctualityToldWindow: '45m',

  collectorFailingFor: '10m',
  collectorDeniedFor: '10m',
  exporterDownFor: '5m',
  configReloadFailedFor: '5m',
  noOwnerFor: '2m',
  stateDownFor: '2m',
  configDiffersFor: '15m',
  leaseFlaps: 5,
  leaseFlapsWindow: '30m',
  leaseFlappingFor: '1m',
  seriesDroppedWindow: '15m',
  seriesDroppedFor: '15m',
  traceOldestSeconds: 900,
  spansRejectedWindow: '15m',
  tracesNotDeliveredFor: '15m',
  heldUpWindow: '5m',
  heldUpSeconds: 1,
  heldUpFor: '10m',

  off: [],
};
