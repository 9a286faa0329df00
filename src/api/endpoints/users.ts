import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';

/** API reference, "Users". Users are counted; their names are never read. */
export const users = defineEndpoint({
  name: 'users',
  path: 'user/list',
  since: 27,
  allowedBy: [{ type: 'resource', kind: 'system', allow: 'admin' }],
  body: z.array(z.unknown()).transform((list) => list.length),
});
