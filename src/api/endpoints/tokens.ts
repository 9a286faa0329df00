import { z } from 'zod';
import { defineEndpoint, largeListBytes, systemRead } from '../endpoint.ts';
import { flag, list, text, timestampMs } from '../lenient.ts';

/**
 * API reference, "API tokens". Requested only from API 19 on, because in older versions the id of a token *is* the token. Ids
 * are not decoded. Without the right to administer tokens, an account sees only its own; the right below shows all tokens.
 */
export const tokens = defineEndpoint({
  name: 'tokens',
  path: 'tokens',
  maxBytes: largeListBytes,
  since: 19,
  allowedBy: systemRead,
  body: list(z.object({ name: text, expiration: timestampMs, expired: flag })),
});
