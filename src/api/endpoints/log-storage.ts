import { z } from 'zod';
import { defineEndpoint, systemRead } from '../endpoint.ts';
import { flag, number, text } from '../lenient.ts';

/** Document A, 2.6. */
export const logStorage = defineEndpoint({
  name: 'log-storage',
  path: 'system/logstorage',
  since: 17,
  allowedBy: systemRead,
  body: z.object({
    enabled: flag,
    pluginName: text,
    succeededCount: number,
    failedCount: number,
    queuedCount: number,
    totalCount: number,
    incompleteCount: number,
    missingCount: number,
  }),
});
