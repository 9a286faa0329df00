import { resumeIncomplete } from '../engine/storage.ts';
import type { Release } from '../release.ts';
import type { IncompleteStorage } from '../world/world.ts';
import { refuseSystem } from './access.ts';
import { type Answer, type ApiRequest, badParameter, denied, flag, href, ok, permalink } from './answer.ts';
import { toDate } from './dates.ts';

/** plugin/list (API reference, "List plugins"), which everyone may read. */
export function pluginList({ world: { release, settings } }: ApiRequest): Answer {
  const toPlugin = (name: string, pluginVersion: string, builtin: boolean) => ({
    service: 'WorkflowStep',
    artifactName: name,
    name,
    id: name,
    builtin,
    pluginVersion,
    title: name,
    description: '',
    author: '',
  });
  const installed = Object.entries(settings.plugins).map(([name, version]) => toPlugin(name, version, false));
  return ok([toPlugin('command', release.name, true), ...installed]);
}

/** system/info (API reference, "System info"), in the form of each release. */
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
    serverUUID: member.uuid,
  };
  const open = refusal === undefined;
  const when = (value: unknown) => (open ? value : null);
  return ok({
    system: {
      [dialect.infoMember]: server,
      timestamp: when({ epoch: nowMs, unit: 'ms', datetime: toDate(nowMs) }),
      executions: when(toMode(request)),
      os: when({ arch: 'amd64', name: 'Linux', version: '6.1' }),
      jvm: when(jvm),
      stats: when(toStats(request)),
      metrics: when({ href: `${href(request, 'metrics/metrics')}?pretty=true`, contentType: 'application/json' }),
      threadDump: when({ href: href(request, 'metrics/threads'), contentType: 'text/plain' }),
      healthcheck: when({ href: href(request, 'metrics/healthcheck'), contentType: 'application/json' }),
      ping: when({ href: href(request, 'metrics/ping'), contentType: 'text/plain' }),
      ...(release.asDocumented ? {} : { extended: null }),
    },
  });
}

const version = '11.0.23';
const jvm = { name: 'OpenJDK 64-Bit Server VM', vendor: 'Example', version, implementationVersion: `${version}+9` };

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

/** system/executions/status: before v36 a passive server answers 503 (API reference, "States and transitions"). */
export function executionStatus(request: ApiRequest): Answer {
  const refusal = refuseSystem(request);
  if (refusal !== undefined) return refusal;
  const { executionMode } = request.world;
  const as503 = executionMode === 'passive' && (request.version < 36 || flag(request, 'passiveAs503'));
  return { status: as503 ? 503 : 200, json: { executionMode } };
}

/** system/executions/enable and disable, which the guide to a first alert uses. */
export function setExecutionMode(mode: 'active' | 'passive') {
  return (request: ApiRequest): Answer => {
    if (!request.caller.policy.systemAdmin) {
      return denied(request, mode === 'active' ? 'enable_executions' : 'disable_executions', 'Resource', 'system');
    }
    request.world.executionMode = mode;
    return ok({ executionMode: mode });
  };
}

/** system/logstorage (API reference, "Log storage info"): counters of the serving member since its start. */
export function logStorage(request: ApiRequest): Answer {
  const refusal = refuseSystem(request);
  if (refusal !== undefined) return refusal;
  const { world, member } = request;
  const { succeeded, failed, total, retries } = member.storage;
  const own = [...world.incomplete.values()].filter((entry) => entry.execution.member === member);
  const queued = own.filter((entry) => entry.queued).length;
  const counts = { succeededCount: succeeded, failedCount: failed, queuedCount: queued };
  const sums = {
    totalCount: total,
    incompleteCount: own.length,
    missingCount: world.settings.countMissing ? own.length : 0,
  };
  const real = { queuedRequestCount: 0, queuedRetriesCount: queued, queuedIncompleteCount: 0, retriesCount: retries };
  return ok({
    enabled: world.settings.logStoragePlugin !== undefined,
    pluginName: world.settings.logStoragePlugin ?? null,
    ...counts,
    ...sums,
    ...(world.release.asDocumented ? {} : real),
  });
}

/** system/logstorage/incomplete (API reference, "System information, metrics, log storage"). */
export function incompleteLogs(request: ApiRequest): Answer {
  const refusal = refuseSystem(request);
  if (refusal !== undefined) return refusal;
  const { world, query } = request;
  const max = Math.min(Number.parseInt(query.get('max') ?? '20', 10) || 20, world.settings.maxRows);
  const offset = Number.parseInt(query.get('offset') ?? '0', 10) || 0;
  if (max < 0 || offset < 0) {
    return badParameter(
      request,
      'api.error.parameter.error',
      max < 0 ? 'max' : 'offset',
      String(Math.min(max, offset)),
    );
  }
  const entries = [...world.incomplete.values()].filter(({ execution }) => execution.member === request.member);
  const executions = entries.slice(offset, offset + max).map((entry) => toEntry(request, entry));
  return ok({ total: entries.length, max, offset, executions });
}

export function resumeLogs(request: ApiRequest): Answer {
  const refusal = refuseSystem(request);
  if (refusal === undefined) resumeIncomplete(request.world);
  return refusal ?? ok({ resumed: true });
}

function toEntry(request: ApiRequest, { execution, queued, sinceMs }: IncompleteStorage) {
  return {
    id: execution.id,
    project: execution.project.name,
    href: href(request, `execution/${execution.id}`),
    permalink: permalink(
      request,
      `project/${encodeURIComponent(execution.project.name)}/execution/show/${execution.id}`,
    ),
    storage: {
      localFilesPresent: true,
      incompleteFiletypes: 'rdlog,state.json',
      queued,
      failed: !queued,
      date: toDate(sinceMs + execution.member.skewMs),
    },
    errors: queued ? (request.world.release.asDocumented ? [] : null) : ['The log storage did not accept the files'],
  };
}
