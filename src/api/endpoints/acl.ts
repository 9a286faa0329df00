import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';

const policyFile = z.object({ type: z.literal('file') });

/** API reference, "ACL policy listing": a folder of policies. */
const body = z
  .object({ resources: z.array(z.unknown()).nullish() })
  .transform(({ resources }) => (resources ?? []).filter((resource) => policyFile.safeParse(resource).success).length);

/** API reference, "ACL policies": policies stored in the server, but not in files. Only the number of policies is used. */
export const systemPolicies = defineEndpoint({
  name: 'acl-policies',
  path: 'system/acl/',
  since: 14,
  allowedBy: [{ type: 'resource', kind: 'system_acl', allow: 'read' }],
  body,
});

export const projectPolicies = defineEndpoint({
  name: 'project-acl-policies',
  path: 'project/{project}/acl/',
  since: 14,
  allowedBy: [{ type: 'project_acl', allow: 'read' }],
  body,
});
