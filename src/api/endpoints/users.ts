import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { toNumber } from '../lenient.ts';

/** API reference, "Users". Users are counted. Names of users are not decoded. */
export const users = defineEndpoint({
  name: 'users',
  path: 'user/list',
  since: 27,
  allowedBy: [{ type: 'resource', kind: 'system', allow: 'admin' }],
  body: z.array(z.unknown()).transform((list) => list.length),
});

export type ClassCount = { readonly userClass: string; readonly users: number };

const counts = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((byClass): ClassCount[] =>
    Object.entries(byClass ?? {}).flatMap(([userClass, value]) => {
      const users = toNumber(value);
      return users === undefined ? [] : [{ userClass, users }];
    }),
  );

/** API reference, "User class objects" and "User classes" (commercial edition). `allocations` lists users; not decoded. */
export const userClasses = defineEndpoint({
  name: 'user-classes',
  path: 'userclass/state',
  since: 41,
  mayBeOff: true,
  allowedBy: [{ type: 'resource', kind: 'user', allow: 'admin' }],
  body: z.object({ summary: counts, entitled: counts, exceeded: counts }),
});
