import { z } from 'zod';
import { defineEndpoint, largeListBytes, systemRead } from '../endpoint.ts';
import { flag, list, text, timestampMs } from '../lenient.ts';

/**
 * API reference, "API tokens". Only asked of API 19 and later: before, the id of a token *is* the token. Ids are never
 * decoded. An account that may not administer tokens sees those that it created; the line below allows what all the
 * others need.
 */
export const tokens = defineEndpoint({
  name: 'tokens',
  path: 'tokens',
  maxBytes: largeListBytes,
  since: 19,
  allowedBy: systemRead,
  body: list(z.object({ name: text, expiration: timestampMs, expired: flag })),
});
