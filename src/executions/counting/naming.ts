import { type Ending, type Execution, type ExecutionStatus, endings } from '../../domain/execution.ts';
import { toJobPath as toPath } from '../../domain/job.ts';

/** Returns how a run ended. A one-time run may have finished with the status `scheduled`; then the results of its nodes decide. */
export function toEnding({ status, failedNodes, succeededNodes }: Execution): Ending {
  if (status === 'scheduled') {
    if (failedNodes.length > 0) return 'failed';
    return succeededNodes > 0 ? 'succeeded' : 'other';
  }
  return isEnding(status) ? status : 'other';
}

export const triggers = ['user', 'scheduled', 'user-scheduled', 'webhook', 'other'] as const;
type Trigger = (typeof triggers)[number];

/** Returns the trigger of a run. Types of plugins and a missing type become `other`. Servers mark ad hoc runs as scheduled. */
export function toTrigger({ type, job, isJobDeleted }: Pick<Execution, 'type' | 'job' | 'isJobDeleted'>): Trigger {
  if (job === undefined && !isJobDeleted && type === 'scheduled') return 'user';
  return triggers.find((trigger) => trigger === type) ?? 'other';
}

/** The group and the name of a job, as labels; both are empty for ad hoc runs. */
export type JobName = { readonly group: string; readonly name: string };

/** The label value of a deleted job whose row has no name. */
export const deletedJob = '__deleted__';
/** The label value of all jobs without series of their own. */
export const otherJobs = '__other__';

export function toJobName({ job, isJobDeleted }: Execution): JobName {
  const name = job?.name ?? (isJobDeleted || job !== undefined ? deletedJob : '');
  return { group: job?.group ?? '', name };
}

/** Returns the path of a job, which configured patterns match. */
export function toJobPath(project: string, { group, name }: JobName): string {
  return toPath({ project, group, name });
}

function isEnding(status: ExecutionStatus): status is Ending {
  return (endings as readonly ExecutionStatus[]).includes(status);
}
