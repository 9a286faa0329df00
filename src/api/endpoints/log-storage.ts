import { z } from 'zod';
import { defineEndpoint, largeListBytes, systemRead } from '../endpoint.ts';
import { flag, list, number, section, text, timestampMs, toNumber } from '../lenient.ts';

/** API reference, "Log storage info". Without a plugin, releases 2.6.5 to 3.0.5 (rundeck dialect) count all executions. */
export const logStorage = defineEndpoint({
  name: 'log-storage',
  path: 'system/logstorage',
  since: 17,
  allowedBy: systemRead,
  body: z
    .object({
      enabled: flag,
      pluginName: text,
      succeededCount: number,
      failedCount: number,
      queuedCount: number,
      totalCount: number,
      incompleteCount: number,
      missingCount: number,
    })
    .transform(({ missingCount, ...storage }) => {
      return { ...storage, missingCount: storage.enabled === false && missingCount ? 0 : missingCount };
    }),
});

export type IncompleteLog = {
  readonly id: number;
  readonly project: string | undefined;
  readonly queued: boolean | undefined;
  readonly failed: boolean | undefined;
  readonly sinceMs: number | undefined;
};

const incompleteLog = z
  .object({ id: z.unknown(), project: text, storage: section({ queued: flag, failed: flag, date: timestampMs }) })
  .transform(({ id, project, storage: { queued, failed, date } }, context): IncompleteLog => {
    const known = toNumber(id);
    if (known === undefined) context.addIssue({ code: 'custom', message: 'is missing', path: ['id'] });
    return { id: known ?? 0, project, queued, failed, sinceMs: date };
  });

/** API reference, "System information, metrics, log storage": executions with incomplete logs at this member. */
export const incompleteLogs = defineEndpoint({
  name: 'log-storage-incomplete',
  path: 'system/logstorage/incomplete',
  query: ['max', 'offset'],
  maxBytes: largeListBytes,
  since: 17,
  allowedBy: systemRead,
  body: z
    .object({ total: number, max: number, executions: list(incompleteLog) })
    .transform(({ total, max, executions }) => ({ total: total ?? executions.length, max, items: executions })),
});
