import type { Release } from '../../release.ts';
import { type Execution, fullName, type Job, jobOf } from '../../world/installation.ts';
import { type Answer, type ApiRequest, badParameter } from '../answer.ts';
import { beforeNow, readDate } from '../dates.ts';
import { isInGroup } from '../jobs.ts';

/** The filters of the executions query (API reference, "Executions"). */
export type ExecutionQuery = {
  readonly beginMs: number;
  readonly endMs: number;
  /** With a date or a status, the list has only finished executions. */
  readonly dated: boolean;
  readonly status: string | undefined;
  readonly matches: (execution: Execution) => boolean;
  /** True if only dates decide, so that counting need not read each execution. */
  readonly plain: boolean;
};

export function readQuery(request: ApiRequest): ExecutionQuery | Answer {
  const { query, nowMs } = request;
  let beginMs = Number.NEGATIVE_INFINITY;
  let endMs = Number.POSITIVE_INFINITY;
  // A malformed recentFilter is silently ignored, a malformed olderFilter is not.
  const recent = beforeNow(query.get('recentFilter') ?? '', nowMs);
  if (recent !== undefined) beginMs = recent;
  for (const name of ['begin', 'end'] as const) {
    const given = query.get(name);
    if (given === null || given === '') continue;
    const time = readDate(given);
    if (time === undefined) return badParameter(request, 'api.error.history.date-format', name, given);
    beginMs = name === 'begin' ? time : beginMs;
    endMs = name === 'end' ? time : endMs;
  }
  const older = query.get('olderFilter');
  if (older !== null && older !== '') {
    const time = beforeNow(older, nowMs);
    if (time === undefined) {
      return badParameter(request, 'api.error.history.date-relative-format', 'olderFilter', older);
    }
    endMs = time;
  }
  if (query.get('adhoc') === 'true' && jobFilters.some((name) => query.has(name))) {
    return badParameter(request, 'api.error.parameter.error', 'adhoc', 'true');
  }
  const predicates = readPredicates(request);
  const status = query.get('statusFilter') || undefined;
  if (status !== undefined) predicates.push((execution) => hasStored(execution, status));
  return {
    beginMs,
    endMs,
    dated: Number.isFinite(beginMs) || Number.isFinite(endMs),
    status,
    plain: predicates.length === 0,
    matches: (execution) => predicates.every((holds) => holds(execution)),
  };
}

type Predicate = (execution: Execution) => boolean;

const jobFilters = ['jobIdListFilter', 'excludeJobIdListFilter', 'jobListFilter', 'excludeJobListFilter', 'groupPath'];

function readPredicates({ query, version, world: { release } }: ApiRequest): Predicate[] {
  const found: Predicate[] = [];
  const on = (name: string, make: (value: string, all: readonly string[]) => Predicate) => {
    const all = query.getAll(name);
    if (all[0] !== undefined && all[0] !== '') found.push(make(all[0], all));
  };
  on('userFilter', (user) => (execution) => execution.user === user);
  on('abortedbyFilter', (user) => (execution) => execution.end?.abortedBy === user);
  on('adhoc', (value) => (execution) => isAdhoc(execution, release) === (value === 'true'));
  on('jobIdListFilter', (_, all) => (execution) => all.includes(jobOf(execution)?.id ?? ''));
  const onJob = (name: string, holds: (job: Job, value: string, all: readonly string[]) => boolean) =>
    on(name, (value, all) => (execution) => {
      const job = jobOf(execution);
      return job !== undefined && holds(job, value, all);
    });
  onJob('excludeJobIdListFilter', ({ id }, _, all) => !all.includes(id));
  onJob('jobListFilter', (job, _, all) => all.includes(fullName(job)));
  onJob('excludeJobListFilter', (job, _, all) => !all.includes(fullName(job)));
  onJob('groupPath', ({ definition }, path) => isInGroup(definition.group ?? '', path));
  onJob('groupPathExact', ({ definition }, path) => (definition.group ?? '-') === path);
  onJob('jobFilter', ({ definition }, part) => definition.name.toLowerCase().includes(part.toLowerCase()));
  onJob('jobExactFilter', ({ definition }, name) => definition.name === name);
  if (version >= 20) on('executionTypeFilter', (type) => (execution) => execution.type === type);
  return found;
}

/** Up to 5.x, a run of a deleted job looks like a command. */
function isAdhoc(execution: Execution, { jobDeletedFlag }: Release): boolean {
  return jobOf(execution) === undefined && !(jobDeletedFlag && execution.jobDeleted);
}

/** A status filter selects the stored status, which covers more than the shown one. */
function hasStored(execution: Execution, wanted: string): boolean {
  const { end, ended, oneTime } = execution;
  if (!ended || end === undefined) return wanted === (oneTime ? 'scheduled' : 'running');
  switch (wanted) {
    case 'aborted':
      return end.abortedBy !== undefined;
    case 'failed':
      return end.abortedBy === undefined && (end.stored === 'failed' || end.stored === 'failed-with-retry');
    case 'timedout':
      return end.timedOut;
    case 'failed-with-retry':
      return execution.retriedBy !== undefined || end.stored === 'failed-with-retry';
    default:
      return end.abortedBy === undefined && end.stored === wanted;
  }
}
