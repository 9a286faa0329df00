/** The version of the conventions that define the names below. */
export const schemaUrl = 'https://opentelemetry.io/schemas/1.45.0';

/**
 * All attribute names of the conventions (the names of CI/CD are a release candidate). The names are copied, because
 * OpenTelemetry's package of names needs megabytes of memory. A test compares the copies.
 */
export const conventional = {
  action: 'cicd.pipeline.action.name',
  pipeline: 'cicd.pipeline.name',
  result: 'cicd.pipeline.result',
  runId: 'cicd.pipeline.run.id',
  runUrl: 'cicd.pipeline.run.url.full',
  task: 'cicd.pipeline.task.name',
  taskRunId: 'cicd.pipeline.task.run.id',
  taskResult: 'cicd.pipeline.task.run.result',
  taskUrl: 'cicd.pipeline.task.run.url.full',
  workerId: 'cicd.worker.id',
  workerName: 'cicd.worker.name',
  errorType: 'error.type',
  exitCode: 'process.exit.code',
  recordId: 'log.record.uid',
  service: 'service.name',
  namespace: 'service.namespace',
  serviceVersion: 'service.version',
  distro: 'telemetry.distro.name',
  distroVersion: 'telemetry.distro.version',
  user: 'user.name',
} as const;

/** The attributes that the conventions do not define. */
export const own = {
  server: 'automation.server.name',
  project: 'automation.project.name',
  jobId: 'automation.job.id',
  jobGroup: 'automation.job.group',
  jobName: 'automation.job.name',
  jobAverage: 'automation.job.average_duration',
  adhoc: 'automation.execution.adhoc',
  trigger: 'automation.execution.trigger',
  argstring: 'automation.execution.argstring',
  abortedBy: 'automation.execution.aborted_by',
  retryAttempt: 'automation.execution.retry.attempt',
  willRetry: 'automation.execution.will_retry',
  customStatus: 'automation.execution.custom_status',
  failureClass: 'automation.failure.class',
  fingerprint: 'automation.failure.fingerprint',
  firstSeen: 'automation.failure.first_seen',
  suspects: 'automation.failure.suspects',
  changeKind: 'automation.change.kind',
  changeSubject: 'automation.change.subject',
  changeWhat: 'automation.change.what',
  changeAfter: 'automation.change.after',
  changeBefore: 'automation.change.before',
  failedNodes: 'automation.execution.node.failed_count',
  succeededNodes: 'automation.execution.node.succeeded_count',
  scheduleDelay: 'automation.schedule.delay',
  node: 'automation.node.name',
  nodeOutcome: 'automation.step.node_outcome',
  handler: 'automation.step.handler',
  notStarted: 'automation.step.not_started_count',
  restCount: 'automation.rest.count',
  restFailed: 'automation.rest.failed_count',
  restSpans: 'automation.rest.span_count',
  link: 'automation.link',
  clamped: 'automation.span.clamped',
  truncated: 'automation.span.truncated',
  endInferred: 'automation.span.end_inferred',
  degraded: 'automation.trace.degraded',
} as const;

export function toOptionAttribute(option: string): string {
  return `automation.job.option.${option}`;
}

export const actionRun = 'RUN';

/** The results of pipelines and tasks in the conventions. */
export const results = {
  success: 'success',
  failure: 'failure',
  error: 'error',
  timeout: 'timeout',
  cancellation: 'cancellation',
  skip: 'skip',
} as const;
export type Result = keyof typeof results;

/** Reports whether a result makes a span an error. A cancelled run is not an error. */
export function isErrorResult(result: Result): boolean {
  return result === 'failure' || result === 'error' || result === 'timeout';
}

/** The `error.type` of errors without a more specific one. */
export const otherError = '_OTHER';
