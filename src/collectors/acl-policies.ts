import type { Api } from '../api/client.ts';
import { projectPolicies, systemPolicies } from '../api/endpoints/acl.ts';
import { ApiError, type ErrorKind } from '../api/errors.ts';
import { gauge } from '../metrics/family.ts';
import { defineCollector, type Watch } from '../schedule/collector.ts';

/** Counts the access policies of the server, because an unexpected policy needs attention. */
export const aclPoliciesCollector = defineCollector({
  name: 'acl-policies',
  help: 'Access policies of the system and of each project; one request per project',
  every: '15m',
  on: false,
  reads: [systemPolicies, projectPolicies],
  metrics: {
    policies: gauge(
      'automation_acl_policies',
      'Access policies of the server; system policies have an empty project [system/acl, project/{p}/acl].',
      'project',
    ),
  },
  fetch: readPolicies,
  map: (counts, { policies }) => counts.flatMap(({ project, count }) => policies.rows(count, { project })),
});

type Count = { project: string; count: number };

/** Reads the counts. Skips projects that are denied, deleted or disabled; fails if all are denied. */
async function readPolicies(api: Api, watch: Watch): Promise<Count[]> {
  const counts: Count[] = [];
  let denial: ApiError | undefined;

  async function add(project: string, count: Promise<number>, mayBe: readonly ErrorKind[]): Promise<void> {
    try {
      counts.push({ project, count: await count });
    } catch (error) {
      if (!(error instanceof ApiError) || !mayBe.includes(error.kind)) throw error;
      if (error.kind === 'forbidden') denial ??= error;
    }
  }

  await add('', api.get(systemPolicies), ['forbidden']);
  for (const { name } of await watch.projects.read(api)) {
    await add(name, api.get(projectPolicies, { path: { project: name } }), ['forbidden', 'not_found']);
  }
  if (counts.length === 0 && denial !== undefined) throw denial;
  return counts;
}
