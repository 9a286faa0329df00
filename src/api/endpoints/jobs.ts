import { z } from 'zod';
import { toTimestampMs } from '../../domain/time.ts';
import type { AccessRight } from '../access-policy.ts';
import { defineEndpoint, largeListBytes, readDefinition } from '../endpoint.ts';
import { flag, list, number, text, timestampMs } from '../lenient.ts';

/** A job in the list of a project. The three switches exist since API 17. */
export type Job = {
  readonly id: string;
  readonly name: string;
  /** The group; empty for a job without a group. */
  readonly group: string;
  readonly isScheduled: boolean | undefined;
  readonly isEnabled: boolean | undefined;
  readonly isScheduleEnabled: boolean | undefined;
  /** The cluster member that schedules the job. */
  readonly ownerUuid?: string;
  /** The time of the last change of the definition or a switch; since API 56. */
  readonly lastModifiedMs?: number;
  /** The user who made the last edit; since API 56. */
  readonly lastModifiedBy?: string;
};

const job = z
  .object({
    id: z.string(),
    name: z.string(),
    group: text,
    scheduled: flag,
    enabled: flag,
    scheduleEnabled: flag,
    serverNodeUUID: text,
    lastModified: timestampMs,
    lastModifiedBy: text,
  })
  .transform(
    ({
      id,
      name,
      group = '',
      scheduled,
      enabled,
      scheduleEnabled,
      serverNodeUUID,
      lastModified,
      lastModifiedBy,
    }): Job => ({
      id,
      name,
      // The group; null at the top level, where executions have an empty text (rundeck dialect).
      group,
      isScheduled: scheduled,
      isEnabled: enabled,
      isScheduleEnabled: scheduleEnabled,
      ...(serverNodeUUID === undefined ? {} : { ownerUuid: serverNodeUUID }),
      ...(lastModified === undefined ? {} : { lastModifiedMs: lastModified }),
      ...(lastModifiedBy === undefined ? {} : { lastModifiedBy }),
    }),
  );

const allowedBy: readonly AccessRight[] = [{ type: 'job', allow: 'read' }];

/**
 * API reference, "Jobs": all visible jobs, in pages only if requested. With `rundeck.gui.paginatejobs.enabled`, servers
 * of releases 3 list ten jobs by default.
 */
export const projectJobs = defineEndpoint({
  name: 'project-jobs',
  path: 'project/{project}/jobs',
  maxBytes: largeListBytes,
  since: 14,
  tellsMoreIn: 56,
  oldQuery: { below: 41, query: 'max=100000' },
  allowedBy,
  body: list(job),
});

/** API reference, "Job metadata": fields that the list does not have. The average is absent or 0 until a job has run. */
export const jobInfo = defineEndpoint({
  name: 'job-info',
  path: 'job/{id}/info',
  since: 18,
  tellsMoreIn: 56,
  allowedBy,
  body: z
    .object({
      id: z.string(),
      averageDuration: number,
      nextScheduledExecution: timestampMs,
      lastModified: timestampMs,
      lastModifiedBy: text,
    })
    .transform(({ averageDuration = 0, nextScheduledExecution, lastModified, lastModifiedBy }) => ({
      averageDurationMs: averageDuration > 0 ? averageDuration : undefined,
      nextRunMs: nextScheduledExecution,
      lastModifiedMs: lastModified,
      lastModifiedBy,
    })),
});

/**
 * API reference, "Jobs": the times at which a schedule starts its job. `time` is a number and a unit. The server lists all times
 * within `time` before it applies `max`. The times are absent while the job is off. From API 48 on, the times include one-time
 * runs, without a mark.
 */
export const jobForecast = defineEndpoint({
  name: 'job-forecast',
  path: 'job/{id}/forecast',
  query: ['time', 'max', 'past'],
  since: 31,
  misleadsFrom: 48,
  isDear: true,
  allowedBy,
  body: z
    .object({ id: z.string(), futureScheduledExecutions: z.array(z.unknown()).optional().catch(undefined) })
    .transform(({ futureScheduledExecutions: times }) => ({ timesMs: times && toTimes(times) })),
});

/**
 * API reference, "Jobs": the definition of a job. Texts of a definition may contain secrets, so only the number of concurrent
 * runs is decoded. The fields are present only if several runs are permitted.
 */
export const jobDefinition = defineEndpoint({
  name: 'job-definition',
  path: 'job/{id}',
  maxBytes: largeListBytes,
  since: 44,
  allowedBy: readDefinition,
  body: list(z.object({ multipleExecutions: flag, maxMultipleExecutions: number })).transform(([first]) => {
    const { multipleExecutions, maxMultipleExecutions: most = 0 } = first ?? {};
    const allowsSeveral = first === undefined ? undefined : multipleExecutions === true;
    return { allowsSeveral, ...(most > 0 ? { mostAtOnce: most } : {}) };
  }),
});

/** Sorts times, and removes duplicates and unreadable values. */
function toTimes(values: readonly unknown[]): number[] {
  const times = values.map((value) => toTimestampMs(value)).filter((time) => time !== undefined);
  return [...new Set(times)].sort((one, other) => one - other);
}
