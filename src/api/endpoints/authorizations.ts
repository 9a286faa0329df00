import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';

/** The allowed ones of the actions that were asked for. Servers before 5.9 have no such answer. */
const allowed = z
  .object({ actionAuthorizations: z.array(z.object({ actionName: z.string(), isAuthorized: z.boolean() })) })
  .transform(({ actionAuthorizations }): ReadonlySet<string> => {
    const granted = actionAuthorizations.filter(({ isAuthorized }) => isAuthorized);
    return new Set(granted.map(({ actionName }) => actionName));
  });

const shared = { query: ['actions'], since: 14, mayBeOff: true, allowedBy: [], body: allowed } as const;

/** API reference, "Authorizations": what the caller may do with a kind of thing of the application. */
export const systemRights = defineEndpoint({
  name: 'authorizations-system',
  path: 'authorizations/application/{kind}',
  ...shared,
});

/** With one project, or with its access policies. */
export const ownRights = defineEndpoint({
  name: 'authorizations-of-project',
  path: 'authorizations/application/{type}/{project}',
  ...shared,
});

/** With a kind of thing in a project. */
export const projectRights = defineEndpoint({
  name: 'authorizations-project',
  path: 'authorizations/project/{project}/{kind}',
  ...shared,
});

/** With one job. */
export const jobRights = defineEndpoint({
  name: 'authorizations-job',
  path: 'authorizations/project/{project}/job/{id}',
  ...shared,
});
