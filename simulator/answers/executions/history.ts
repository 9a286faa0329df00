import { type Execution, endedAt, fullName, startedAt } from '../../world/installation.ts';
import { isAnswer, mayReadEvents, openProject } from '../access.ts';
import { type Answer, type ApiRequest, badParameter, denied, href, ok, permalink } from '../answer.ts';
import { beforeNow, readDate, toDate } from '../dates.ts';
import { describe, links, mayReadExecution, statusNow } from './execution.ts';
import { readNumber } from './execution-lists.ts';

/** project/{project}/history (API reference, "History event" and "History"). */
export function history(request: ApiRequest): Answer {
  const project = openProject(request);
  if (isAnswer(project)) return project;
  if (!mayReadEvents(request, project.name)) return denied(request, 'read', 'Resource', 'event');
  const { query, nowMs } = request;
  const recent = query.get('recentFilter');
  const recentMs = recent === null ? undefined : beforeNow(recent, nowMs, 'hdwmy');
  if (recent !== null && recentMs === undefined) {
    return badParameter(request, 'api.error.history.date-relative-format', 'recentFilter', recent);
  }
  const beginMs = readDate(query.get('begin') ?? '') ?? recentMs ?? Number.NEGATIVE_INFINITY;
  const endMs = readDate(query.get('end') ?? '') ?? Number.POSITIVE_INFINITY;
  const found = [...project.completed.between(beginMs, endMs)].filter((execution) => isWanted(execution, query));
  const max = readNumber(request, 'max', 20) || 20;
  const offset = readNumber(request, 'offset', 0);
  const events = found
    .slice(offset, offset + max)
    .filter((execution) => mayReadExecution(request, execution))
    .map((execution) => toEvent(request, execution));
  return ok({ paging: { count: events.length, total: found.length, max, offset }, events });
}

const eventWords: Readonly<Record<string, string>> = { succeeded: 'succeed', aborted: 'cancel' };

function isWanted(execution: Execution, query: URLSearchParams): boolean {
  const { job, user } = execution;
  const title = job === undefined ? 'adhoc' : fullName(job);
  const on = (name: string, holds: (value: string) => boolean) => {
    const value = query.get(name);
    return value === null || value === '' || holds(value);
  };
  return (
    on('jobIdFilter', (id) => job?.id === id) &&
    on('reportIdFilter', (name) => title === name) &&
    on('userFilter', (name) => user === name) &&
    on('statFilter', (word) => toWord(execution) === word) &&
    on('jobListFilter', () => query.getAll('jobListFilter').includes(title)) &&
    on('excludeJobListFilter', () => !query.getAll('excludeJobListFilter').includes(title))
  );
}

function toWord({ end }: Execution): string {
  if (end?.abortedBy !== undefined) return 'cancel';
  return end?.stored === 'succeeded' ? 'succeed' : 'fail';
}

function toEvent(request: ApiRequest, execution: Execution) {
  const { job, jobDeleted, end, project, user } = execution;
  const status = statusNow(request, execution);
  const succeeded = end?.succeededNodes.length ?? 0;
  const failed = end?.failedNodes.length ?? 0;
  return {
    starttime: startedAt(execution),
    endtime: endedAt(execution),
    title: job === undefined ? 'adhoc' : fullName(job),
    status,
    statusString: eventWords[status] ?? (status === 'failed' ? 'fail' : status),
    summary: describe(execution),
    'node-summary': { succeeded, failed, total: succeeded + failed },
    user,
    project: project.name,
    ...(end?.abortedBy === undefined ? {} : { abortedby: end.abortedBy }),
    'date-started': toDate(startedAt(execution)),
    'date-ended': toDate(endedAt(execution)),
    ...(job === undefined || jobDeleted ? {} : { job: jobLinks(request, job.id, project.name) }),
    execution: links(request, execution),
  };
}

function jobLinks(request: ApiRequest, id: string, project: string) {
  return {
    id,
    href: href(request, `job/${id}`),
    permalink: permalink(request, `project/${encodeURIComponent(project)}/job/show/${id}`),
  };
}
