import { z } from 'zod';
import { defineEndpoint, largeListBytes, systemRead } from '../endpoint.ts';
import { list, text } from '../lenient.ts';

/** API reference, "Metrics data". Servers return 500 with the same body if a check fails, and 501 if there are no checks. */
export const healthcheck = defineEndpoint({
  name: 'healthcheck',
  path: 'metrics/healthcheck',
  since: 25,
  mayBeOff: true,
  allowedBy: systemRead,
  alsoAnswers: [500, 501],
  body: z.record(z.string(), z.unknown()).transform((checks, context) => {
    const judged = Object.entries(checks).flatMap(([name, check]) => toCheck(name, check));
    // If a 500 is an error of the server itself, its body has no checks.
    if (judged.length === 0 && Object.keys(checks).length > 0) context.addIssue('no entry has a verdict `healthy`');
    return judged;
  }),
});

function toCheck(name: string, check: unknown): { name: string; healthy: boolean }[] {
  const healthy = typeof check === 'object' && check !== null && 'healthy' in check ? check.healthy : undefined;
  return typeof healthy === 'boolean' ? [{ name, healthy }] : [];
}

/** API reference, "System information, metrics, log storage": `pong` as plain text, with or without an end of line. */
export const ping = defineEndpoint({
  name: 'ping',
  path: 'metrics/ping',
  since: 25,
  mayBeOff: true,
  allowedBy: systemRead,
  mayBeText: true,
  body: z.string().regex(/^\s*pong\s*$/, 'is not `pong`'),
});

/** API reference, "System information, metrics, log storage": the state of each thread, from text or a list. */
export const threads = defineEndpoint({
  name: 'threads',
  path: 'metrics/threads',
  maxBytes: largeListBytes,
  since: 25,
  mayBeOff: true,
  allowedBy: systemRead,
  mayBeText: true,
  body: z
    .union([z.string().transform(toDumpedStates), list(z.object({ state: text }).transform(({ state }) => state))])
    .transform((states, context) => {
      // The server needs a thread to respond, so an empty list is wrong.
      if (states.length === 0) context.addIssue('contains no thread states');
      return states;
    }),
});

/** Returns the states in a dump. Each thread has a line. Its name may contain any text, so the last state in the line counts. */
function toDumpedStates(dump: string): string[] {
  return [...dump.matchAll(/^".*" id=\d+ state=([A-Z_]+)/gm)].flatMap(([, state]) => state ?? []);
}
