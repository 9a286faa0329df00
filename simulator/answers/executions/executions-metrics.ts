import { type Execution, endedAt, type Project, startedAt } from '../../world/installation.ts';
import { isAnswer, mayReadEvents, openProject } from '../access.ts';
import { type Answer, type ApiRequest, badParameter, denied, ok, parameter } from '../answer.ts';
import { beforeNow } from '../dates.ts';
import { statusNow } from './execution.ts';
import { matching } from './execution-lists.ts';
import { readQuery } from './execution-query.ts';

/** executions/metrics, for one project or for all (API reference, "Executions"). */
export function executionsMetrics(request: ApiRequest): Answer {
  const projects = openProjects(request);
  if (!Array.isArray(projects)) return projects;
  const recent = request.query.get('recentFilter');
  if (recent !== null && recent !== '' && beforeNow(recent, request.nowMs) === undefined) {
    return badParameter(request, 'api.error.history.date-relative-format', 'recentFilter', recent);
  }
  const query = readQuery(request);
  if (!('matches' in query)) return query;
  const found = projects.flatMap((project) => [
    ...matching(project, query, { unfinishedFirst: true, unfinishedDated: false }),
  ]);
  return ok(summarize(request, found));
}

function openProjects(request: ApiRequest): Project[] | Answer {
  const { release, projects } = request.world;
  if (parameter(request, 'project') !== '') {
    const project = openProject(request, undefined, !release.asDocumented);
    if (isAnswer(project)) return project;
    return release.metricsChecked && !mayReadEvents(request, project.name)
      ? denied(request, 'read', 'Events in project', project.name)
      : [project];
  }
  // Up to 6.1, every caller gets the totals of the whole installation.
  return [...projects.values()].filter(
    (project) => !project.deleted && (!release.metricsChecked || mayReadEvents(request, project.name)),
  );
}

function summarize(request: ApiRequest, found: readonly Execution[]) {
  const { release } = request.world;
  const seconds = found
    .filter((execution) => execution.ended)
    .map((execution) => Math.round((endedAt(execution) - startedAt(execution)) / 1000));
  let sum = 0;
  let max = 0;
  let min = seconds[0] ?? 0;
  for (const value of seconds) {
    sum += value;
    max = Math.max(max, value);
    min = Math.min(min, value);
  }
  const statuses = found.map((execution) => statusNow(request, execution));
  const count = (...wanted: readonly string[]) => statuses.filter((status) => wanted.includes(status)).length;
  const succeeded = count('succeeded');
  const failed = count('failed', 'failed-with-retry', 'timedout', 'aborted');
  return {
    total: found.length,
    duration: {
      // The average is divided by the number of all executions, including unfinished executions.
      average: toText(found.length === 0 ? 0 : sum / found.length),
      max: toText(max % 86_400),
      min: toText(min % 86_400),
    },
    ...(release.metricsStatus ? { status: { succeeded, failed } } : {}),
    ...(release.metricsCounts ? { succeeded, failed, successRate: toRate(succeeded, found.length) } : {}),
  };
}

function toRate(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 1000) / 10;
}

/** Writes whole seconds below a minute, and whole minutes above it. */
function toText(seconds: number): string {
  return seconds < 60 ? `${Math.floor(seconds)}s` : `${Math.floor(seconds / 60)}m`;
}
