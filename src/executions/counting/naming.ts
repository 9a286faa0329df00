import type { Execution, ExecutionStatus } from '../../domain/execution.ts';
import { toJobPath as toPath } from '../../domain/job-path.ts';

/** The values of the `status` label: the ways an execution can end. */
export const endings = ['succeeded', 'failed', 'aborted', 'timedout', 'failed-with-retry', 'missed', 'other'] as const;
export type Ending = (typeof endings)[number];

/** A one-time run may keep the word `scheduled` when it is over; then its nodes tell how it ended. */
export function toEnding({ status, failedNodes, succeededNodes }: Execution): Ending {
  if (status === 'scheduled') {
    if (failedNodes.length > 0) return 'failed';
    return succeededNodes > 0 ? 'succeeded' : 'other';
  }
  return isEnding(status) ? status : 'other';
}

/** The values of the `trigger` label: the things that can start an execution. */
export const triggers = ['user', 'scheduled', 'user-scheduled', 'webhook', 'other'] as const;
export type Trigger = (typeof triggers)[number];

/** Plugins have words of their own, and old rows none. */
export function toTrigger({ type }: Pick<Execution, 'type'>): Trigger {
  return triggers.find((trigger) => trigger === type) ?? 'other';
}

/** The labels that name a job; both empty for ad hoc runs. */
export type JobName = { readonly group: string; readonly name: string };

/** Stands for a job that was deleted and that the row does not name. */
export const deletedJob = '__deleted__';
/** Stands for all jobs of a project that have no series of their own. */
export const otherJobs = '__other__';

export function toJobName({ job, isJobDeleted }: Execution): JobName {
  const name = job?.name ?? (isJobDeleted || job !== undefined ? deletedJob : '');
  return { group: job?.group ?? '', name };
}

/** The path that patterns of configuration are held against. */
export function toJobPath(project: string, { group, name }: JobName): string {
  return toPath({ project, group, name });
}

function isEnding(status: ExecutionStatus): status is Ending {
  return (endings as readonly ExecutionStatus[]).includes(status);
}
