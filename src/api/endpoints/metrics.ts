import { z } from 'zod';
import { defineEndpoint, systemRead } from '../endpoint.ts';

/** Document A, 2.5. Servers answer 500 with the same body when a check fails, and 501 when there are no checks. */
export const healthcheck = defineEndpoint({
  name: 'healthcheck',
  path: 'metrics/healthcheck',
  since: 25,
  mayBeOff: true,
  allowedBy: systemRead,
  alsoAnswers: [500, 501],
  body: z.record(z.string(), z.unknown()).transform((checks, context) => {
    const judged = Object.entries(checks).flatMap(([name, check]) => toCheck(name, check));
    // The body of a 500 may as well tell of a fault of the server: then nothing in it is a check.
    if (judged.length === 0 && Object.keys(checks).length > 0) context.addIssue('no entry has a verdict `healthy`');
    return judged;
  }),
});

function toCheck(name: string, check: unknown): { name: string; healthy: boolean }[] {
  const healthy = typeof check === 'object' && check !== null && 'healthy' in check ? check.healthy : undefined;
  return typeof healthy === 'boolean' ? [{ name, healthy }] : [];
}
