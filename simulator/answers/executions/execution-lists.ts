import { insertFinished } from '../../engine/insert.ts';
import { covers } from '../../world/access.ts';
import { type Execution, type Project, startedAt } from '../../world/installation.ts';
import type { Settings } from '../../world/settings.ts';
import { isAnswer, mayReadEvents, mayReadProject, openProject } from '../access.ts';
import { type Answer, type ApiRequest, denied, fail, ok, parameter } from '../answer.ts';
import { isListed, toExecution } from './execution.ts';
import { type ExecutionQuery, readQuery } from './execution-query.ts';

/** project/{project}/executions (API reference, "Executions"): by completion, newest first. */
export function projectExecutions(request: ApiRequest): Answer {
  // Real servers check no right on the project for a list of executions.
  const project = openProject(request, undefined, !request.world.release.asDocumented);
  if (isAnswer(project)) return project;
  const query = readQuery(request);
  if (!('matches' in query)) return query;
  const max = readMax(request);
  // With 0, a negative number or text, the whole table is returned.
  const limit = max > 0 ? max : Number.POSITIVE_INFINITY;
  const offset = Math.max(0, readNumber(request, 'offset', 0));
  const { page, total } = select(request, project, query, { offset, limit });
  const readable = covers(request.caller.policy.events, project.name) ? page : [];
  const shown = readable.filter((execution) => isListed(request, execution));
  const executions = shown.map((execution) => {
    const json = toExecution(request, execution);
    return request.world.release.executionSummaryOnDemand ? { ...json, description: null } : json;
  });
  shiftPages(request, project);
  return ok({
    paging: { count: executions.length, total: Math.max(0, total + request.world.settings.totalOffset), offset, max },
    executions,
  });
}

/** project/{project}/executions/running: a name, a comma list, or `*`. */
export function runningExecutions(request: ApiRequest): Answer {
  const projects = openProjects(request, parameter(request, 'project'));
  if (!Array.isArray(projects)) return projects;
  const max = readMax(request) || 20;
  const limit = max > 0 ? max : 20;
  const offset = Math.max(0, readNumber(request, 'offset', 0));
  // Real servers read every text as true.
  const postponed = (request.query.get('includePostponed') ?? '') !== '';
  const found = projects
    .flatMap((project) => [...project.open.values()])
    .filter(({ oneTime }) => postponed || !oneTime)
    .sort((one, other) => startedAt(other) - startedAt(one) || other.id - one.id);
  return ok(toList(request, found, offset, limit));
}

/** Returns every execution that a query selects: finished executions newest first, all others at their places in the database. */
export function* matching(
  project: Project,
  query: ExecutionQuery,
  { unfinishedFirst, unfinishedDated }: Pick<Settings, 'unfinishedFirst' | 'unfinishedDated'>,
): Iterable<Execution> {
  const open = query.dated && !unfinishedDated ? [] : [...project.open.values()].filter(query.matches);
  open.sort((one, other) => startedAt(other) - startedAt(one));
  if (unfinishedFirst) yield* open;
  for (const execution of project.completed.between(query.beginMs, query.endMs)) {
    if (query.plain || query.matches(execution)) yield execution;
  }
  if (!unfinishedFirst) yield* open;
}

function readNumber({ query }: ApiRequest, name: string, fallback: number): number {
  const given = query.get(name);
  if (given === null || given === '') return fallback;
  return /^-?\d+$/.test(given) ? Number(given) : 0;
}

/** Returns the number of rows on a page: the requested number, or the limit of the gateway. */
function readMax(request: ApiRequest): number {
  return Math.min(readNumber(request, 'max', 20), request.world.settings.maxRows);
}

type Cut = { readonly offset: number; readonly limit: number };

function select({ world }: ApiRequest, project: Project, query: ExecutionQuery, { offset, limit }: Cut) {
  const page: Execution[] = [];
  let seen = 0;
  for (const execution of matching(project, query, world.settings)) {
    if (seen >= offset && page.length < limit) page.push(execution);
    seen += 1;
    if (page.length >= limit && query.plain) break;
  }
  const isClosed = query.dated && !world.settings.unfinishedDated;
  const counted = project.completed.count(query.beginMs, query.endMs) + (isClosed ? 0 : project.open.size);
  return { page, total: query.plain ? counted : seen };
}

/** Lets runs finish between two pages. */
function shiftPages({ world, member: { skewMs } }: ApiRequest, project: Project): void {
  for (let index = 0; index < world.settings.shiftPages; index += 1) {
    const work = { nodes: [], steps: [], keepGoing: false, timeoutMs: undefined, references: new Map() };
    const times = { startedAtMs: world.playedMs, endedAtMs: world.playedMs };
    insertFinished(world, { project, job: undefined, work, ...times, skewMs });
  }
}

function toList(request: ApiRequest, found: readonly Execution[], offset: number, max: number) {
  const page = found.slice(offset, offset + max).map((execution) => toExecution(request, execution));
  return { paging: { count: page.length, total: found.length, offset, max }, executions: page };
}

function openProjects(request: ApiRequest, names: string): Project[] | Answer {
  const { runningOf, refusesStar, failsOverStar } = request.world.release;
  if (names === '*' && failsOverStar) return { status: 500, json: { error: 'A server error occurred' } };
  if (names === '*' && runningOf.includes('*')) {
    const listed = [...request.world.projects.values()].filter(
      (project) => !project.deleted && !project.disabled && mayReadProject(request, project.name),
    );
    const readable = listed.filter(({ name }) => mayReadEvents(request, name));
    const none = fail(request, 401, 'api.error.execution.project.notfound', ['No project is readable']);
    if (!refusesStar || readable.length === listed.length) return readable.length > 0 ? readable : none;
    // One error for each denied project. The list of executions is omitted.
    const { json, ...first } = denied(request, 'read', 'Resource', 'event');
    const errors = JSON.stringify(json).repeat(listed.length - readable.length);
    const text = readable.length > 0 ? errors : `${errors}${JSON.stringify(none.json)}`;
    return { ...first, text, contentType: 'application/json;charset=utf-8', breaksOff: readable.length > 0 };
  }
  const projects: Project[] = [];
  for (const name of runningOf.includes(',') ? names.split(',') : [names]) {
    const project = openProject(request, name);
    if (isAnswer(project)) return project;
    if (!mayReadEvents(request, name)) return denied(request, 'read', 'Resource', 'event');
    projects.push(project);
  }
  return projects;
}
