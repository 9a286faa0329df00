import type { Release } from '../release.ts';
import { refuseSystem } from './access.ts';
import type { Answer, ApiRequest } from './answer.ts';
import { href, ok } from './answer.ts';
import { toDate } from './dates.ts';

/** system/info (API reference, "System info"); what real releases make of it differs. */
export function systemInfo(request: ApiRequest): Answer {
  const { world, member, nowMs } = request;
  const { release, dialect } = world;
  const refusal = refuseSystem(request);
  if (refusal !== undefined && !release.infoForAll) return refusal;
  const server = {
    version: `${release.name}-20260105`,
    build: `${release.name}-0`,
    ...(release.asDocumented ? {} : { buildGit: 'v0-g0000000' }),
    node: member.name,
    base: '/srv/automation',
    apiversion: release.infoAsText ? String(release.apiVersion) : release.apiVersion,
    serverUUID: world.members.length > 1 ? member.uuid : null,
  };
  const open = refusal === undefined;
  const when = (value: unknown) => (open ? value : null);
  return ok({
    system: {
      [dialect.infoMember]: server,
      timestamp: when({ epoch: nowMs, unit: 'ms', datetime: toDate(nowMs) }),
      executions: when(toMode(request)),
      os: when({ arch: 'amd64', name: 'Linux', version: '6.1' }),
      jvm: when({
        name: 'OpenJDK 64-Bit Server VM',
        vendor: 'Example',
        version: '11.0.23',
        implementationVersion: '11.0.23+9',
      }),
      stats: when(toStats(request)),
      metrics: when({ href: `${href(request, 'metrics/metrics')}?pretty=true`, contentType: 'application/json' }),
      threadDump: when({ href: href(request, 'metrics/threads'), contentType: 'text/plain' }),
      healthcheck: when({ href: href(request, 'metrics/healthcheck'), contentType: 'application/json' }),
      ping: when({ href: href(request, 'metrics/ping'), contentType: 'text/plain' }),
      ...(release.asDocumented ? {} : { extended: null }),
    },
  });
}

function toMode({ world }: ApiRequest) {
  const active = world.executionMode === 'active';
  return { active: world.release.infoAsText ? String(active) : active, executionMode: world.executionMode };
}

function toStats({ world, member, nowMs }: ApiRequest) {
  const sinceMs = member.startedAtMs + member.skewMs;
  const upMs = Math.max(0, nowMs - sinceMs);
  const total = 1_073_741_824;
  return {
    uptime: {
      duration: world.release.uptimeWraps ? upMs | 0 : upMs,
      unit: 'ms',
      since: { epoch: sinceMs, unit: 'ms', datetime: toDate(sinceMs) },
    },
    cpu: {
      loadAverage: { unit: 'percent', average: toLoad(world.release, world.settings.loadAverage) },
      processors: 4,
    },
    memory: { unit: 'byte', max: 2 * total, free: Math.round(total * (0.35 + 0.2 * Math.sin(nowMs / 90_000))), total },
    scheduler: { running: member.busy, threadPoolSize: member.threadPoolSize },
    threads: { active: 24 + member.busy * 2 },
  };
}

function toLoad({ loadAverage }: Release, load: number): number {
  switch (loadAverage) {
    case 'load':
      return load;
    case 'fraction':
      return Math.min(1, load / 4);
    case 'integer':
      return load >= 4 ? 1 : 0;
  }
}
