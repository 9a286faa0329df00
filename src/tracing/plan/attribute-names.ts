import {
  ATTR_CICD_PIPELINE_ACTION_NAME,
  ATTR_CICD_PIPELINE_NAME,
  ATTR_CICD_PIPELINE_RESULT,
  ATTR_CICD_PIPELINE_RUN_ID,
  ATTR_CICD_PIPELINE_RUN_URL_FULL,
  ATTR_CICD_PIPELINE_TASK_NAME,
  ATTR_CICD_PIPELINE_TASK_RUN_ID,
  ATTR_CICD_PIPELINE_TASK_RUN_RESULT,
  ATTR_CICD_PIPELINE_TASK_RUN_URL_FULL,
  ATTR_CICD_WORKER_ID,
  ATTR_CICD_WORKER_NAME,
  ATTR_ERROR_TYPE,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
  ATTR_TELEMETRY_DISTRO_NAME,
  ATTR_TELEMETRY_DISTRO_VERSION,
  ATTR_USER_NAME,
  CICD_PIPELINE_ACTION_NAME_VALUE_RUN,
  CICD_PIPELINE_RESULT_VALUE_CANCELLATION,
  CICD_PIPELINE_RESULT_VALUE_ERROR,
  CICD_PIPELINE_RESULT_VALUE_FAILURE,
  CICD_PIPELINE_RESULT_VALUE_SKIP,
  CICD_PIPELINE_RESULT_VALUE_SUCCESS,
  CICD_PIPELINE_RESULT_VALUE_TIMEOUT,
} from '@opentelemetry/semantic-conventions/incubating';

/** The version of the conventions that these names are of. */
export const schemaUrl = 'https://opentelemetry.io/schemas/1.45.0';

/** Every attribute that we set under a name of the conventions; the CI/CD ones are a release candidate. */
export const conventional = {
  action: ATTR_CICD_PIPELINE_ACTION_NAME,
  pipeline: ATTR_CICD_PIPELINE_NAME,
  result: ATTR_CICD_PIPELINE_RESULT,
  runId: ATTR_CICD_PIPELINE_RUN_ID,
  runUrl: ATTR_CICD_PIPELINE_RUN_URL_FULL,
  task: ATTR_CICD_PIPELINE_TASK_NAME,
  taskRunId: ATTR_CICD_PIPELINE_TASK_RUN_ID,
  taskResult: ATTR_CICD_PIPELINE_TASK_RUN_RESULT,
  taskUrl: ATTR_CICD_PIPELINE_TASK_RUN_URL_FULL,
  workerId: ATTR_CICD_WORKER_ID,
  workerName: ATTR_CICD_WORKER_NAME,
  errorType: ATTR_ERROR_TYPE,
  service: ATTR_SERVICE_NAME,
  serviceVersion: ATTR_SERVICE_VERSION,
  distro: ATTR_TELEMETRY_DISTRO_NAME,
  distroVersion: ATTR_TELEMETRY_DISTRO_VERSION,
  user: ATTR_USER_NAME,
} as const;

/** Every attribute that the conventions have no name for. */
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

/** The value of an option that was asked for by name. */
export function toOptionAttribute(option: string): string {
  return `automation.job.option.${option}`;
}

export const actionRun = CICD_PIPELINE_ACTION_NAME_VALUE_RUN;

/** The results of the conventions, the same for pipelines and tasks. */
export const results = {
  success: CICD_PIPELINE_RESULT_VALUE_SUCCESS,
  failure: CICD_PIPELINE_RESULT_VALUE_FAILURE,
  error: CICD_PIPELINE_RESULT_VALUE_ERROR,
  timeout: CICD_PIPELINE_RESULT_VALUE_TIMEOUT,
  cancellation: CICD_PIPELINE_RESULT_VALUE_CANCELLATION,
  skip: CICD_PIPELINE_RESULT_VALUE_SKIP,
} as const;
export type Result = keyof typeof results;

/** Only these make a span an error: a cancelled run did what it was told to. */
export function isErrorResult(result: Result): boolean {
  return result === 'failure' || result === 'error' || result === 'timeout';
}
