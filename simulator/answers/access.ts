import { covers } from '../world/access.ts';
import type { Job, Project } from '../world/installation.ts';
import { type Answer, type ApiRequest, denied, fail, missing, parameter } from './answer.ts';

/** Refuses a caller without the right to read the system. Returns undefined if the caller has the right. */
export function refuseSystem(request: ApiRequest): Answer | undefined {
  const { policy } = request.caller;
  return policy.systemRead || policy.systemAdmin || policy.admin
    ? undefined
    : denied(request, 'read', 'Resource', 'system');
}

/** Returns the project of the path, or an answer that refuses the request. */
export function openProject(
  request: ApiRequest,
  name = parameter(request, 'project'),
  isForAll = false,
): Project | Answer {
  const project = request.world.projects.get(name);
  if (project === undefined || project.deleted) {
    return fail(request, 404, 'api.error.project.missing', [`Project does not exist: ${name}`, name]);
  }
  if (!isForAll && !mayReadProject(request, name)) return denied(request, 'read', 'Project', name);
  if (project.disabled) return fail(request, 404, 'api.error.project.disabled', [`Project is disabled: ${name}`, name]);
  return project;
}

export function openJob(request: ApiRequest, id = parameter(request, 'id')): Job | Answer {
  const job = request.world.jobs.get(id);
  if (job === undefined || job.project.deleted) return missing(request, 'Job ID', id);
  if (!mayReadJob(request, job)) return denied(request, 'read', 'Job ID', id);
  return job.project.disabled
    ? fail(request, 404, 'api.error.project.disabled', [`Project is disabled: ${job.project.name}`, job.project.name])
    : job;
}

export function mayReadProject({ caller }: ApiRequest, name: string): boolean {
  return covers(caller.policy.projects, name);
}

export function mayReadJob(request: ApiRequest, job: Job): boolean {
  const { jobs, hiddenJobs } = request.caller.policy;
  const { name } = job.project;
  return mayReadProject(request, name) && covers(jobs, name) && !hiddenJobs.includes(job.id);
}

export function mayReadEvents({ caller }: ApiRequest, name: string): boolean {
  return covers(caller.policy.projects, name) && covers(caller.policy.events, name);
}

export function isAnswer(value: Project | Job | Answer): value is Answer {
  return 'status' in value;
}
