import { z } from 'zod';
import { type Execution, isOfDeletedJob, toExecutionStatus } from '../../domain/execution.ts';
import type { TracedExecution } from '../../domain/span-source.ts';
import { toStartMs, toTimestampMs } from '../../domain/time.ts';
import type { AccessRight } from '../access-policy.ts';
import { defineEndpoint, executionRead, largeListBytes } from '../endpoint.ts';
import { number, toNumber, toText } from '../lenient.ts';
import { execution as executionEndpoint } from './execution.ts';

/** The maximum number of rows, which is far more than a page may have. */
const maxRows = 20_000;

const executionList = z
  .object({
    paging: z.object({ total: z.number().int().nonnegative(), max: number }),
    executions: z.array(z.unknown()).max(maxRows),
  })
  .transform(({ paging, executions }) => {
    const items: Execution[] = [];
    const origins: RunOrigin[] = [];
    const oddRows: OddRow[] = [];
    for (const item of executions) {
      const read = toExecution(item);
      if (typeof read === 'string') {
        oddRows.push({ field: read, text: JSON.stringify(item).slice(0, maxOddTextLength) });
        continue;
      }
      items.push(read);
      if (read.endedAtMs === undefined) continue;
      origins.push(toOrigin(read.id, item));
      listed.set(read, item);
    }
    return { ...paging, items, origins, oddRows };
  });

/** Finished rows of lists with all fields. Stored executions lack some fields, because arguments may be secret. */
const listed = new WeakMap<Execution, unknown>();

/** Returns a listed row as a single execution; undefined if a request for the execution may return more. */
export function toTraced(row: Execution): TracedExecution | undefined {
  if (row.status === 'failed-with-retry' && row.nextAttemptId === undefined) return undefined;
  return executionEndpoint.body.safeParse(listed.get(row)).data;
}

/** How a finished run was started, and where it ran. Arguments of a run may contain secrets. */
export type RunOrigin = {
  readonly id: number;
  readonly arguments: string | undefined;
  readonly user: string | undefined;
  readonly memberUuid: string | undefined;
  readonly nodes: readonly string[];
};

/** A row that cannot be read: the invalid field, and enough text to identify the row. */
export type OddRow = {
  readonly field: string;
  readonly text: string;
  /** True if this row alone exceeds the size limit of a response. */
  readonly isTooLarge?: true;
};

const maxOddTextLength = 200;

const readEvents: readonly AccessRight[] = [{ type: 'resource', kind: 'event', allow: 'read' }];
const readExecutions = [...readEvents, ...executionRead];

/** API reference, "Executions": executions that ended within a window, both ends included, newest first. */
export const projectExecutions = defineEndpoint({
  name: 'project-executions',
  path: 'project/{project}/executions',
  query: ['begin', 'end', 'max', 'offset', 'jobIdListFilter'],
  maxBytes: largeListBytes,
  since: 14,
  allowedBy: readExecutions,
  body: executionList,
});

/**
 * API reference, "Executions": running executions in all readable projects (`*`). The response includes one-time runs
 * only with `includePostponed` (any value).
 */
export const runningExecutions = defineEndpoint({
  name: 'running-executions',
  path: 'project/{project}/executions/running',
  query: ['max', 'offset', 'includePostponed'],
  maxBytes: largeListBytes,
  since: 14,
  allowedBy: readExecutions,
  body: executionList,
});

/**
 * API reference, "Executions": the number of executions that ended within a window in all projects, of all jobs or of some.
 * Releases 3.0.x of the rundeck dialect omit a total of 0.
 */
export const executionsTotal = defineEndpoint({
  name: 'executions-total',
  path: 'executions/metrics',
  query: ['begin', 'end', 'jobIdListFilter'],
  since: 29,
  allowedBy: readEvents,
  body: z
    .object({ total: number, duration: z.unknown().optional() })
    .transform(({ total, duration }) => total ?? (duration === undefined ? undefined : 0)),
});

function toOrigin(id: number, item: unknown): RunOrigin {
  const fields = toFields(item);
  return {
    id,
    arguments: toText(fields.argstring),
    user: toText(fields.user),
    memberUuid: toText(fields.serverUUID),
    nodes: [...toNames(fields.successfulNodes), ...toNames(fields.failedNodes)],
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** Decodes an execution without a schema, because a sweep reads tens of thousands. Returns the name of an unreadable field. */
function toExecution(item: unknown): Execution | string {
  const fields = toFields(item);
  const id = toNumber(fields.id);
  if (id === undefined || !Number.isSafeInteger(id) || id < 0) return 'id';
  const status = toExecutionStatus(toText(fields.status));
  const endedAtMs = toTimestampMs(fields['date-ended']);
  // A finished run with an unreadable end would otherwise look unfinished.
  if (endedAtMs === undefined && (fields['date-ended'] ?? undefined) !== undefined) return 'date-ended';
  // A waiting execution may have no start yet. A waiting execution must not make the page fail.
  const isWaiting = endedAtMs === undefined && (status === 'queued' || status === 'scheduled');
  const knownStartMs = toStartMs(fields['date-started']);
  const startedAtMs = knownStartMs ?? endedAtMs ?? (isWaiting ? Number.POSITIVE_INFINITY : undefined);
  if (startedAtMs === undefined) return 'date-started';
  const attempt = toNumber(fields.retryAttempt);
  const nextAttemptId = toNumber(toFields(fields.retriedExecution).id);
  const job = fields.job === undefined || fields.job === null ? undefined : toFields(fields.job);
  const type = toText(fields.executionType);
  const succeeded = toNames(fields.successfulNodes);
  const isOfJob = job === undefined && isOfDeletedJob({ type, attempt, nextAttemptId });
  const memberUuid = endedAtMs === undefined ? toText(fields.serverUUID) : undefined;
  return {
    id,
    status,
    customStatus: toText(fields.customStatus),
    project: toText(fields.project),
    startedAtMs,
    ...(knownStartMs === undefined && endedAtMs !== undefined ? { lacksStart: true } : {}),
    endedAtMs,
    job: job && {
      id: toText(job.id),
      name: toText(job.name),
      group: toText(job.group) ?? '',
      averageDurationMs: toNumber(job.averageDuration),
    },
    isJobDeleted: fields.jobDeleted === true || isOfJob,
    type,
    succeededNodes: succeeded.length,
    failedNodes: toNames(fields.failedNodes),
    ...(succeeded.length === 0 || succeeded.length > maxNamed ? {} : { succeededOn: succeeded }),
    ...(attempt === undefined || attempt < 1 ? {} : { attempt }),
    ...(nextAttemptId === undefined ? {} : { nextAttemptId }),
    ...(memberUuid === undefined ? {} : { memberUuid }),
  };
}

function toFields(value: unknown): Fields {
  // This cast is safe: any object can be read by name, and absent names read as undefined.
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** A page has thousands of executions, and some of them run on all nodes. */
const maxNamed = 100;

const noNames: readonly string[] = [];

function toNames(names: unknown): readonly string[] {
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : noNames;
}
