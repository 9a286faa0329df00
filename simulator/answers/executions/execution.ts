import type { JobRight } from '../../release.ts';
import { covers } from '../../world/access.ts';
import { averageDuration, type Execution, endedAt, jobOf, startedAt, toStatus } from '../../world/installation.ts';
import { mayReadJob, mayReadProject } from '../access.ts';
import { type Answer, type ApiRequest, denied, fail, href, missing, ok, parameter, permalink } from '../answer.ts';
import { toUnixDate } from '../dates.ts';

/** execution/{id} (API reference, "Execution"). */
export function oneExecution(request: ApiRequest): Answer {
  const execution = openExecution(request);
  return 'status' in execution ? execution : ok(toExecution(request, execution));
}

/** Returns the execution of the path, or an answer that refuses the request. */
export function openExecution(request: ApiRequest): Execution | Answer {
  const id = parameter(request, 'id');
  const execution = /^\d+$/.test(id) ? request.world.executions.get(Number(id)) : undefined;
  if (execution === undefined) return missing(request, 'Execution', id);
  if (!mayReadExecution(request, execution)) return denied(request, 'read', 'Execution', id);
  const { project } = execution;
  return project.disabled
    ? fail(request, 404, 'api.error.project.disabled', [`Project is disabled: ${project.name}`, project.name])
    : execution;
}

function mayReadExecution(request: ApiRequest, execution: Execution): boolean {
  return rightsOn(request, execution).some((right) => right !== 'view_history');
}

/** Reports whether the history shows an execution. The necessary right depends on the release. */
export function isListed(request: ApiRequest, execution: Execution): boolean {
  const { rowsFor } = request.world.release;
  return rightsOn(request, execution).some((right) => rowsFor.includes(right));
}

function rightsOn(request: ApiRequest, { project, ...execution }: Execution): JobRight[] {
  const { adhoc, viewedJobs, pastJobs } = request.caller.policy;
  const job = jobOf(execution);
  if (job === undefined) return mayReadProject(request, project.name) && covers(adhoc, project.name) ? ['read'] : [];
  const found: JobRight[] = pastJobs.includes(job.id) ? ['view_history'] : [];
  if (mayReadJob(request, job)) found.push(viewedJobs.includes(job.id) ? 'view' : 'read');
  return found;
}

export function statusNow({ world }: ApiRequest, execution: Execution): string {
  return toStatus(execution, world.playedMs);
}

export function toExecution(request: ApiRequest, execution: Execution) {
  const status = statusNow(request, execution);
  const { world } = request;
  // The documents have neither type nor retries of an execution.
  const { asDocumented } = world.release;
  const end = execution.ended ? execution.end : undefined;
  const { succeededNodes = [], failedNodes = [] } = end ?? {};
  return {
    ...links(request, execution),
    status,
    ...(status === 'other' ? { customStatus: end?.stored } : {}),
    project: execution.project.name,
    // Servers mark commands without a job as scheduled by mistake.
    ...(asDocumented ? {} : { executionType: execution.job === undefined ? 'scheduled' : execution.type }),
    user: execution.user,
    ...(world.members.length > 1 ? { serverUUID: execution.member.uuid } : {}),
    'date-started': toUnixDate(startedAt(execution)),
    ...(end === undefined ? {} : { 'date-ended': toUnixDate(endedAt(execution)) }),
    ...(end?.abortedBy === undefined ? {} : { abortedby: end.abortedBy }),
    ...toJobPart(request, execution),
    description: describe(execution),
    argstring: toArgString(execution.options),
    ...(succeededNodes.length > 0 ? { successfulNodes: succeededNodes.flatMap((name) => name.split(',')) } : {}),
    ...(failedNodes.length > 0 ? { failedNodes } : {}),
    ...(execution.attempt > 0 && !asDocumented ? { retryAttempt: execution.attempt } : {}),
    ...(asDocumented ? {} : toNext(request, execution)),
    ...(world.release.jobDeletedFlag ? { jobDeleted: execution.jobDeleted } : {}),
  };
}

function links(request: ApiRequest, { id, project }: Execution) {
  return {
    id,
    href: href(request, `execution/${id}`),
    permalink: permalink(request, `project/${encodeURIComponent(project.name)}/execution/show/${id}`),
  };
}

/** Describes a run in the words of the user interface. */
function describe({ work }: Execution): string {
  return work.steps.map((step) => (step.kind === 'jobref' ? 'Job reference' : step.text)).join(' ; ');
}

function toJobPart(request: ApiRequest, execution: Execution) {
  const job = jobOf(execution);
  if (job === undefined) return {};
  const { options } = execution;
  const { definition, project, id } = job;
  const average = averageDuration(job);
  return {
    job: {
      id,
      ...(average === 0 ? {} : { averageDuration: average }),
      name: definition.name,
      group: definition.group ?? '',
      project: project.name,
      description: definition.description ?? '',
      ...(Object.keys(options).length === 0 ? {} : { options }),
      href: href(request, `job/${id}`),
      permalink: permalink(request, `project/${encodeURIComponent(project.name)}/job/show/${id}`),
    },
  };
}

/** Returns `retriedExecution`, which is the next attempt, not the previous one. */
function toNext(request: ApiRequest, { retriedBy, ended }: Execution) {
  if (retriedBy === undefined || !ended) return {};
  return { retriedExecution: { ...links(request, retriedBy), status: statusNow(request, retriedBy) } };
}

/** Returns option values as the server prints them; null if there are none. */
function toArgString(options: Readonly<Record<string, string>>): string | null {
  const parts = Object.entries(options).map(([name, value]) => `-${name} ${/\s/.test(value) ? `'${value}'` : value}`);
  return parts.length === 0 ? null : parts.join(' ');
}
