import type { Api } from '../api/client.ts';
import { memberJobs, ownJobs } from '../api/endpoints/cluster.ts';
import { systemInfo } from '../api/endpoints/system.ts';
import type { Memory } from '../domain/memory.ts';
import { gauge } from '../metrics/family.ts';
import { defineCollector, type Watch } from '../schedule/collector.ts';

export const clusterJobsCollector = defineCollector({
  name: 'cluster-jobs',
  help: 'Jobs by the cluster member that owns their schedule',
  every: '5m',
  on: false,
  reads: [systemInfo, ownJobs, memberJobs],
  metrics: {
    jobs: gauge(
      'automation_cluster_member_jobs',
      'Jobs whose schedule belongs to the cluster member [scheduler/jobs, scheduler/server/{uuid}/jobs].',
      'server_uuid',
    ),
  },
  fetch: readOwners,
  off: (owners) => (owners === undefined ? noCluster : undefined),
  remember: rememberMembers,
  map: (owners, { jobs }) => owners?.flatMap(({ uuid, count }) => jobs.rows(count, { server_uuid: uuid })) ?? [],
});

const noCluster = {
  reason: 'meaningless',
  message: 'the server is not in cluster mode, or these credentials do not see its UUID',
} as const;

type Owner = { uuid: string; count: number; isAnswering: boolean };

/**
 * Reads the owners of jobs. No endpoint lists the members, so a member is known if it responded within the last day or owns
 * jobs. Behind a load balancer, two requests may reach two members, so each member is requested by its UUID. Any member can
 * respond, even about another member that is gone and still owns jobs.
 */
async function readOwners(api: Api, _watch: Watch, before: Memory): Promise<readonly Owner[] | undefined> {
  const { server } = await api.get(systemInfo);
  if (server.serverUUID === undefined) return undefined;
  const answering = new Set([
    server.serverUUID,
    ...(await api.get(ownJobs)).flatMap(({ serverNodeUUID }) => serverNodeUUID ?? []),
  ]);
  const owners: Owner[] = [];
  for (const uuid of new Set([...answering, ...Object.keys(before)].sort())) {
    const { length: count } = await api.get(memberJobs, { path: { uuid } });
    owners.push({ uuid, count, isAnswering: answering.has(uuid) });
  }
  return owners;
}

const forgottenAfterMs = 86_400_000;

function rememberMembers(owners: readonly Owner[] | undefined, before: Memory, nowMs: number): Memory {
  const heardOf = (owners ?? []).map(({ uuid, count, isAnswering }) => {
    return [uuid, isAnswering || count > 0 ? nowMs : Number(before[uuid])] as const;
  });
  return Object.fromEntries(heardOf.filter(([, atMs]) => nowMs - atMs < forgottenAfterMs));
}
