import { z } from 'zod';
import { defineEndpoint, largeListBytes, systemRead } from '../endpoint.ts';
import { flag, list, text, timestampMs } from '../lenient.ts';

/**
 * API reference, "API tokens". Requested from API 19 on: before, the id of a token *is* the token. Ids are not decoded.
 * With the right to read the system, the response has all tokens, otherwise those of the account.
 */
export const tokens = defineEndpoint({
  name: 'tokens',
  path: 'tokens',
  maxBytes: largeListBytes,
  since: 19,
  allowedBy: systemRead,
  body: list(z.object({ name: text, expiration: timestampMs, expired: flag })),
});
