import type { Api } from '../api/client.ts';
import { memberJobs, ownJobs } from '../api/endpoints/cluster.ts';
import { systemInfo } from '../api/endpoints/system.ts';
import { gauge } from '../metrics/family.ts';
import { defineCollector } from './collector.ts';

/** Which member of a cluster schedules how many jobs. */
export const clusterJobsCollector = defineCollector({
  name: 'cluster-jobs',
  help: 'Jobs whose schedule a member of a cluster owns',
  every: '5m',
  on: false,
  reads: [systemInfo, ownJobs, memberJobs],
  metrics: {
    jobs: gauge(
      'automation_cluster_member_jobs',
      'Jobs whose schedule the member owns [scheduler/jobs, scheduler/server/{uuid}/jobs].',
      'server_uuid',
    ),
  },
  fetch: readOwners,
  off: (owners) => (owners === undefined ? noCluster : undefined),
  map: (owners, { jobs }) => owners?.flatMap(({ uuid, count }) => jobs.rows(count, { server_uuid: uuid })) ?? [],
});

const noCluster = {
  reason: 'meaningless',
  message: 'the server is not in cluster mode, or these credentials do not see its UUID',
} as const;

type Owner = { readonly uuid: string; readonly count: number };

/**
 * No endpoint lists the members: what is known are those that answer. Behind a balancer two requests in a row may be
 * answered by two members, so that each is asked for by its UUID.
 */
async function readOwners(api: Api): Promise<readonly Owner[] | undefined> {
  const { server } = await api.get(systemInfo);
  if (server.serverUUID === undefined) return undefined;
  const owners = (await api.get(ownJobs)).flatMap(({ serverNodeUUID }) => serverNodeUUID ?? []);
  const known: Owner[] = [];
  for (const uuid of new Set([server.serverUUID, ...owners])) {
    known.push({ uuid, count: (await api.get(memberJobs, { path: { uuid } })).length });
  }
  return known;
}
