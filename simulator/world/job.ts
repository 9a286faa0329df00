import { toUuid } from '../random.ts';
import type { Member } from './member.ts';
import type { Project } from './project.ts';
import type { JobDefinition } from './work.ts';

export type Job = {
  readonly id: string;
  readonly project: Project;
  definition: JobDefinition;
  enabled: boolean;
  scheduleEnabled: boolean;
  owner: Member | undefined;
  /** Counts schedule changes: a trigger of an older count is void. */
  generation: number;
  readonly statistics: { count: number; totalMs: number; succeeded: number };
  readonly createdAtMs: number;
  /** When somebody saved it last: also by a switch. */
  modifiedAtMs: number;
};

export function createJob(project: Project, definition: JobDefinition, owner: Member, id?: string): Job {
  return {
    id: id ?? toUuid('job', project.name, definition.group ?? '', definition.name),
    project,
    definition,
    enabled: definition.enabled ?? true,
    scheduleEnabled: definition.scheduleEnabled ?? true,
    owner: definition.schedule === undefined ? undefined : owner,
    generation: 0,
    statistics: { count: 0, totalMs: 0, succeeded: 0 },
    createdAtMs: project.createdAtMs,
    modifiedAtMs: project.createdAtMs,
  };
}

export function averageDuration(job: Job): number {
  return job.statistics.count === 0 ? 0 : Math.round(job.statistics.totalMs / job.statistics.count);
}

/** `group/name`, or only the name at the top level. */
export function fullName(job: Job): string {
  const { group, name } = job.definition;
  return group === undefined || group === '' ? name : `${group}/${name}`;
}

export function maySchedule(job: Job): boolean {
  const { project } = job;
  return (
    job.definition.schedule !== undefined &&
    job.enabled &&
    job.scheduleEnabled &&
    !project.disabled &&
    !project.deleted &&
    project.executionsEnabled &&
    project.scheduleEnabled
  );
}
