import { resumeIncomplete } from '../engine/storage.ts';
import type { IncompleteStorage } from '../world/world.ts';
import { refuseSystem } from './access.ts';
import type { Answer, ApiRequest } from './answer.ts';
import { href, ok, permalink } from './answer.ts';
import { toDate } from './dates.ts';
import { badParameter } from './errors.ts';

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
  const max = Math.min(Number.parseInt(query.get('max') ?? '20', 10) || 20, world.settings.mostRows);
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
