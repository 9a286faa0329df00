import { formatDuration } from '../src/config/values/duration.ts';
import { lateMs } from '../src/expected-runs/deciding/hours.ts';
import { executionLimits, scheduleLimits, serverLimits } from '../src/status/limits.ts';

/** Every limit of the alert rules. Durations have the format of Prometheus. */
export interface Thresholds {
  /** The address of the exporter. When the exporter serves the rules, it replaces this placeholder by its external URL. */
  readonly baseUrl: string;
  /** The address of the Grafana with the dashboards of this repository. */
  readonly grafanaUrl: string;
  /** The `job` label under which Prometheus scrapes the exporter. */
  readonly exporterJob: string;
  /** A pattern of the collectors that only administrators may use. */
  readonly administratorCollectors: string;
  readonly evaluationInterval: string;
  /** The evaluation interval of alerts over many hours. */
  readonly slowEvaluationInterval: string;
  /** The labels that distinguish exporters of the same server. */
  readonly replicaLabels: string;
  /** The time for which a value stays valid: longer than a restart and two long scrape intervals. */
  readonly gapWindow: string;

  readonly serviceDownFor: string;
  /** The window of the errors that an alert names as the cause. */
  readonly causeWindow: string;
  readonly credentialsRejectedFor: string;
  readonly passiveFor: string;
  readonly passiveBrieflyWindow: string;
  /**
   * For this time, the critical alert about the passive mode suppresses the alert about a brief passive mode. Longer
   * than the window above.
   */
  readonly passiveLongWindow: string;
  readonly healthcheckFailingFor: string;

  readonly logStorageWindow: string;
  /** Log storage works again if, within this window, a log was stored and none failed. */
  readonly logStorageRecoveredWindow: string;
  readonly logStorageFailingFor: string;
  /** The number of failed requests in the window, and their share; both must be reached. */
  readonly logStorageFailedRequests: number;
  readonly logStorageFailedRatio: number;
  readonly logStorageBacklogRequests: number;
  readonly logStorageBacklogFor: string;
  readonly logStorageMissingFor: string;

  readonly restartWindow: string;
  /** The smallest change of the start time that is a restart and not rounding. */
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
  /** Failures of a job in a row if the cause is known: a node is unreachable, or a key is refused. */
  readonly jobFailuresOfCause: number;
  readonly jobFailingFor: string;
  readonly jobNoRecentSuccessFor: string;
  readonly executionOverdueFor: string;
  /** Failures on one node, their share of all node failures of the project, and the number of failing jobs. */
  readonly nodeWindow: string;
  readonly nodeFailures: number;
  readonly nodeFailureRatio: number;
  readonly nodeFailingJobs: number;
  readonly nodeFailingFor: string;
  /** After an alert about a node, its failing jobs are not reported for this time, unless they have run again. */
  readonly nodeToldWindow: string;
  /** A job is slower if its durations have changed within this time, by at least the factor. */
  readonly durationFactor: number;
  readonly durationShiftSeconds: number;
  /** The window of missed runs and delays. */
  readonly scheduleWindow: string;
  readonly scheduleMissedFor: string;
  readonly scheduleLateSeconds: number;
  readonly scheduleLateFor: string;
  readonly scheduleSaturationFor: string;
  readonly runsAtRiskFor: string;
  readonly runsAtRiskSoonSeconds: number;
  readonly jobDisabledSeconds: number;
  readonly jobDisabledFor: string;
  /** The lag above which alerts on finished executions do not fire; larger than the usual lag of idle projects. */
  readonly executionLagSeconds: number;
  readonly executionsLaggingFor: string;
  readonly executionsHiddenFor: string;
  /** The alert needs two such windows in a row with imports only. */
  readonly importsWindow: string;
  /** Longer than the time to read an imported archive. */
  readonly executionsImportedFor: string;

  /** The share of executions that should succeed. */
  readonly executionsObjective: number;
  /** The share of scheduled runs that should start in time. */
  readonly punctualityObjective: number;
  /** With fewer failures, the alert never fires. */
  readonly burnFailures: number;
  readonly burnFastFor: string;
  readonly burnSlowFor: string;
  /** How long after an alert about the cause of missed runs the punctuality alert does not fire. */
  readonly punctualityToldWindow: string;

  readonly collectorFailingFor: string;
  readonly collectorDeniedFor: string;
  readonly exporterDownFor: string;
  readonly configReloadFailedFor: string;
  readonly noOwnerFor: string;
  readonly stateDownFor: string;
  /** Longer than a rolling update of the exporters. */
  readonly configDiffersFor: string;
  /** The alert fires if the owner changes more often within the window. */
  readonly leaseFlaps: number;
  readonly leaseFlapsWindow: string;
  readonly leaseFlappingFor: string;
  readonly seriesDroppedWindow: string;
  readonly seriesDroppedFor: string;
  /** A trace that waits longer counts as not delivered. */
  readonly traceOldestSeconds: number;
  readonly spansRejectedWindow: string;
  readonly tracesNotDeliveredFor: string;
  readonly heldUpWindow: string;
  /** Normal work never blocks the event loop for this long. */
  readonly heldUpSeconds: number;
  readonly heldUpFor: string;

  /** The alerts that are off. */
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
  jobFailuresOfCause: executionLimits.failuresOfCause,
  jobFailingFor: '0s',
  jobNoRecentSuccessFor: '5m',
  // The rule for overdue executions has a minimum time too.
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
  // Most problems have their own alert, which fires sooner; this alert is about problems that nobody removes.
  runsAtRiskFor: '1h',
  runsAtRiskSoonSeconds: scheduleLimits.soonMs / 1000,
  jobDisabledSeconds: scheduleLimits.offMs / 1000,
  jobDisabledFor: '15m',
  // Twice the longest time between two reads of an idle project.
  executionLagSeconds: executionLimits.lagSeconds,
  executionsLaggingFor: '10m',
  // This is the longest time between two reads of an idle project: the alert fires only if a second read hides executions too.
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
