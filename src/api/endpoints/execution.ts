import { z } from 'zod';
import { isOfDeletedJob, toExecutionStatus } from '../../domain/execution.ts';
import type { TracedExecution } from '../../domain/span-source.ts';
import { toStartMs } from '../../domain/time.ts';
import { defineEndpoint, executionRead } from '../endpoint.ts';
import { flag, number, section, text, timestampMs } from '../lenient.ts';

const names = z
  .unknown()
  .transform((value) => (Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []))
  .optional();

const options = z
  .unknown()
  .transform((value) => {
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    const entries = isMap ? Object.entries(value) : [];
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  })
  .optional();

const job = section({ id: text, name: text, group: text, averageDuration: number, options });

const fields = z.object({
  id: number.pipe(z.number()),
  status: text,
  customStatus: text,
  project: text,
  'date-started': z.unknown().transform(toStartMs).optional(),
  'date-ended': timestampMs,
  executionType: text,
  user: text,
  abortedby: text,
  permalink: text,
  argstring: text,
  serverUUID: text,
  successfulNodes: names,
  failedNodes: names,
  retryAttempt: number,
  retriedExecution: section({ id: number }),
  jobDeleted: flag,
  job: z.unknown().optional(),
});

/** API reference, "Executions": one execution with the fields that only its trace needs. */
export const execution = defineEndpoint({
  name: 'execution',
  path: 'execution/{id}',
  since: 14,
  allowedBy: executionRead,
  body: fields.transform((answer, context): TracedExecution => {
    const startedAtMs = answer['date-started'] ?? answer['date-ended'];
    if (startedAtMs === undefined) {
      context.addIssue({ code: 'custom', message: 'is missing', path: ['date-started'] });
      return z.NEVER;
    }
    const started = {
      type: answer.executionType,
      attempt: answer.retryAttempt,
      nextAttemptId: answer.retriedExecution.id,
    };
    const ofJob = typeof answer.job === 'object' && answer.job !== null ? job.parse(answer.job) : undefined;
    return {
      id: answer.id,
      status: toExecutionStatus(answer.status),
      customStatus: answer.customStatus,
      project: answer.project,
      startedAtMs,
      endedAtMs: answer['date-ended'],
      job: ofJob && {
        id: ofJob.id,
        name: ofJob.name,
        group: ofJob.group ?? '',
        averageDurationMs: ofJob.averageDuration,
      },
      isJobDeleted: answer.jobDeleted === true || (ofJob === undefined && isOfDeletedJob(started)),
      type: answer.executionType,
      succeededNodes: answer.successfulNodes?.length ?? 0,
      failedNodes: answer.failedNodes ?? [],
      permalink: answer.permalink,
      user: answer.user,
      abortedBy: answer.abortedby,
      argstring: answer.argstring,
      options: ofJob?.options ?? new Map(),
      serverUuid: answer.serverUUID,
      retryAttempt: answer.retryAttempt,
      nextAttemptId: answer.retriedExecution.id,
    };
  }),
});
