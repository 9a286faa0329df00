import { type Ending, type Execution, type ExecutionStatus, endings } from '../../domain/execution.ts';
import { toJobPath as toPath } from '../../domain/job.ts';

/** A finished one-time run may keep the status `scheduled`; then its nodes show its result. */
export function toEnding({ status, failedNodes, succeededNodes }: Execution): Ending {
  if (status === 'scheduled') {
    if (failedNodes.length > 0) return 'failed';
    return succeededNodes > 0 ? 'succeeded' : 'other';
  }
  return isEnding(status) ? status : 'other';
}

export const triggers = ['user', 'scheduled', 'user-scheduled', 'webhook', 'other'] as const;
type Trigger = (typeof triggers)[number];

/** Plugins use other values, and old rows have none. Servers mark ad hoc runs as scheduled, although nothing schedules them. */
export function toTrigger({ type, job, isJobDeleted }: Pick<Execution, 'type' | 'job' | 'isJobDeleted'>): Trigger {
  if (job === undefined && !isJobDeleted && type === 'scheduled') return 'user';
  return triggers.find((trigger) => trigger === type) ?? 'other';
}

/** The labels that name a job; both are empty for ad hoc runs. */
export type JobName = { readonly group: string; readonly name: string };

/** The label value of a deleted job whose name is missing in the row. */
export const deletedJob = '__deleted__';
/** The label value for all jobs of a project without series of their own. */
export const otherJobs = '__other__';

export function toJobName({ job, isJobDeleted }: Execution): JobName {
  const name = job?.name ?? (isJobDeleted || job !== undefined ? deletedJob : '');
  return { group: job?.group ?? '', name };
}

/** Returns the path that configured patterns are matched against. */
export function toJobPath(project: string, { group, name }: JobName): string {
  return toPath({ project, group, name });
}

function isEnding(status: ExecutionStatus): status is Ending {
  return (endings as readonly ExecutionStatus[]).includes(status);
}
