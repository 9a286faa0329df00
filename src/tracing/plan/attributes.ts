import type { FirstCause } from '../../domain/failure-class.ts';
import { toJobPath } from '../../domain/job.ts';
import type { SpanSource, TracedExecution } from '../../domain/span-source.ts';
import { actionRun, conventional, own, results, toOptionAttribute } from './attribute-names.ts';
import type { RootOutcome } from './root-outcome.ts';
import type { TraceSettings } from './settings.ts';
import type { Attributes, AttributeValue } from './span.ts';

/** Collects the attributes of one span. Cuts long texts, and records whether any text was cut. */
export function createAttributes() {
  const values: Record<string, AttributeValue> = {};
  let hasCut = false;

  function cut(text: string, length = maxValueLength): string {
    const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
    if (wellFormed.length <= length) return wellFormed;
    hasCut = true;
    // Half of a surrogate pair at the end would be invalid text.
    return `${wellFormed.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
  }

  return {
    /** Sets an attribute. Skips undefined values and empty texts. */
    set: (name: string, value: AttributeValue | undefined) => {
      if (value === undefined || value === '') return;
      if (typeof value === 'number' && !Number.isFinite(value)) return;
      values[name] = typeof value === 'string' ? cut(value) : value;
    },
    cut,
    values,
    isCut: () => hasCut,
  };
}

export type AttributeList = ReturnType<typeof createAttributes>;

const maxValueLength = 1000;
export const maxNameLength = 200;

/** Builds the attributes that all spans of an execution share. */
export function toResource({ execution, state }: SpanSource, settings: TraceSettings): Attributes {
  const { set, values } = createAttributes();
  set(conventional.service, settings.service);
  set(conventional.serviceVersion, settings.release);
  set(conventional.pipeline, toPipeline(execution));
  set(conventional.runId, String(execution.id));
  set(conventional.runUrl, execution.permalink);
  // A server outside a cluster has no UUID, so its traces have no worker attributes: a worker needs an id.
  set(conventional.workerId, execution.serverUuid ?? state?.serverNode);
  set(conventional.workerName, state?.serverNode);
  set(own.server, settings.server);
  set(conventional.distro, settings.distro.name);
  set(conventional.distroVersion, settings.distro.version);
  return values;
}

/** Returns `{project}/{group}/{name}`; undefined for an ad hoc command and for a deleted job. */
export function toPipeline({ project = '', job }: TracedExecution): string | undefined {
  return job?.name === undefined ? undefined : toJobPath({ project, group: job.group, name: job.name });
}

export function setRootAttributes(
  { set }: AttributeList,
  source: SpanSource,
  { outcome, failure, settings }: { outcome: RootOutcome; failure: FirstCause | undefined; settings: TraceSettings },
): void {
  const { execution } = source;
  const { job } = execution;
  set(conventional.action, actionRun);
  set(conventional.result, results[outcome.result]);
  set(conventional.errorType, outcome.errorType);
  set(own.failureClass, failure?.failureClass);
  set(conventional.exitCode, failure?.exitCode);
  set(own.project, execution.project);
  set(own.jobId, job?.id);
  set(own.jobGroup, job?.group);
  set(own.jobName, job?.name);
  set(own.jobAverage, toSeconds(job?.averageDurationMs));
  set(own.adhoc, job === undefined && !execution.isJobDeleted ? true : undefined);
  set(own.trigger, execution.type);
  set(own.retryAttempt, execution.retryAttempt);
  set(own.willRetry, execution.status === 'failed-with-retry' ? true : undefined);
  set(own.customStatus, execution.status === 'other' ? execution.customStatus : undefined);
  set(own.failedNodes, execution.failedNodes.length || undefined);
  set(own.succeededNodes, execution.succeededNodes || undefined);
  if (source.expectedAtMs !== undefined) {
    set(own.scheduleDelay, toSeconds(Math.max(0, execution.startedAtMs - source.expectedAtMs)));
  }
  set(own.degraded, source.degraded);
  setSensitive(set, execution, settings);
}

/** Adds personal and secret values that the configuration includes. */
function setSensitive(set: AttributeList['set'], execution: TracedExecution, settings: TraceSettings): void {
  if (settings.withUserNames) {
    set(conventional.user, execution.user);
    set(own.abortedBy, execution.status === 'aborted' ? execution.abortedBy : undefined);
  }
  if (settings.withArgstring) set(own.argstring, execution.argstring);
  for (const option of settings.options) set(toOptionAttribute(option), execution.options.get(option));
}

function toSeconds(durationMs: number | undefined): number | undefined {
  return durationMs === undefined ? undefined : durationMs / 1000;
}
