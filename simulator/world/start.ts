import type { ExecutionType } from './execution.ts';
import type { Job } from './job.ts';
import type { Project } from './project.ts';
import type { Work } from './work.ts';

/** A wish to run something, before there is an execution. */
export type Start = {
  readonly project: Project;
  readonly job: Job | undefined;
  readonly work: Work;
  readonly type: ExecutionType;
  readonly user: string;
  readonly options: Readonly<Record<string, string>>;
  readonly attempt: number;
  readonly delayMs: number;
};

export function startOfJob(
  job: Job,
  type: ExecutionType,
  user: string,
  options?: Readonly<Record<string, string>>,
): Start {
  return {
    project: job.project,
    job,
    work: job.definition.work,
    type,
    user,
    options: { ...job.definition.options, ...options },
    attempt: 0,
    delayMs: 0,
  };
}

export function startOfCommand(project: Project, work: Work, user: string): Start {
  return { project, job: undefined, work, type: 'user', user, options: {}, attempt: 0, delayMs: 0 };
}
