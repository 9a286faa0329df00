import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';

/** The requested actions that are permitted. Servers before 5.9 do not return rights. */
const allowed = z
  .object({ actionAuthorizations: z.array(z.object({ actionName: z.string(), isAuthorized: z.boolean() })) })
  .transform(({ actionAuthorizations }): ReadonlySet<string> => {
    const granted = actionAuthorizations.filter(({ isAuthorized }) => isAuthorized);
    return new Set(granted.map(({ actionName }) => actionName));
  });

const shared = { query: ['actions'], since: 14, mayBeOff: true, allowedBy: [], body: allowed } as const;

/** API reference, "Authorizations": the caller's rights on a kind of resource of the application. */
export const systemRights = defineEndpoint({
  name: 'authorizations-system',
  path: 'authorizations/application/{kind}',
  ...shared,
});

/** The caller's rights on one project or its access policies. */
export const ownRights = defineEndpoint({
  name: 'authorizations-of-project',
  path: 'authorizations/application/{type}/{project}',
  ...shared,
});

/** The caller's rights on a kind of resource in a project. */
export const projectRights = defineEndpoint({
  name: 'authorizations-project',
  path: 'authorizations/project/{project}/{kind}',
  ...shared,
});

export const jobRights = defineEndpoint({
  name: 'authorizations-job',
  path: 'authorizations/project/{project}/job/{id}',
  ...shared,
});
