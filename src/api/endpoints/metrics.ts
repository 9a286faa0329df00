import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';

/** Document A, 2.5. Servers answer 500 with the same body when a check fails, and 501 when there are no checks. */
export const healthcheck = defineEndpoint({
  name: 'healthcheck',
  path: 'metrics/healthcheck',
  since: 25,
  alsoAnswers: [500, 501],
  body: z
    .record(z.string(), z.object({ healthy: z.boolean() }))
    .transform((checks) => Object.entries(checks).map(([name, { healthy }]) => ({ name, healthy }))),
});
