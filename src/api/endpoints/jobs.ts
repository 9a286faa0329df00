import { z } from 'zod';
import type { AccessRight } from '../access-policy.ts';
import { defineEndpoint, largeListBytes } from '../endpoint.ts';
import { flag, list, number, text } from '../lenient.ts';

/** A job as in the project's list. The three switches exist since API 17. */
export type Job = {
  readonly id: string;
  readonly name: string;
  /** Empty where there is none. */
  readonly group: string;
  readonly isScheduled: boolean | undefined;
  readonly isEnabled: boolean | undefined;
  readonly isScheduleEnabled: boolean | undefined;
};

const job = z
  .object({ id: z.string(), name: z.string(), group: text, scheduled: flag, enabled: flag, scheduleEnabled: flag })
  .transform(
    ({ id, name, group = '', scheduled, enabled, scheduleEnabled }): Job => ({
      id,
      name,
      // Null at the top level, where executions have an empty text (rundeck dialect).
      group,
      isScheduled: scheduled,
      isEnabled: enabled,
      isScheduleEnabled: scheduleEnabled,
    }),
  );

const allowedBy: readonly AccessRight[] = [{ type: 'job', allow: 'read' }];

/** Document B, 4.1: all jobs that may be seen; there are pages only where they are asked for. */
export const projectJobs = defineEndpoint({
  name: 'project-jobs',
  path: 'project/{project}/jobs',
  maxBytes: largeListBytes,
  since: 14,
  allowedBy,
  body: list(job),
});

/** Document B, 2.2: what the list does not tell. The average is absent, or 0, until a job has run. */
export const jobInfo = defineEndpoint({
  name: 'job-info',
  path: 'job/{id}/info',
  since: 18,
  allowedBy,
  body: z
    .object({ id: z.string(), averageDuration: number })
    .transform(({ averageDuration = 0 }) => ({ averageDurationMs: averageDuration > 0 ? averageDuration : undefined })),
});
