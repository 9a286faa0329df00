import type { Drift } from './durations/drift.ts';
import type { Ending, JobNames } from './execution.ts';
import type { FailureClass } from './failure-class.ts';

/** Returns the path that configured patterns match: `{project}/{group}/{name}`, or `{project}/{name}` without a group. */
export function toJobPath({ project, group, name }: JobNames): string {
  return [project, ...(group === '' ? [] : [group]), name].join('/');
}

/** Returns the names in a path. A group may contain slashes; a project and a name cannot. */
export function ofJobPath(path: string): JobNames {
  const [project = '', ...rest] = path.split('/');
  return { project, group: rest.slice(0, -1).join('/'), name: rest.at(-1) ?? '' };
}

/** The last results of a job, one letter each: a success, a success after a retry, or a failure. */
export type Flakiness = { readonly marks: string; readonly isFlaky: boolean };

/** The fingerprint of the lines of a failure, and whether the job failed with these lines for the first time. */
export type FailureLines = {
  readonly fingerprint: string;
  readonly isNew: boolean;
  /** The end of the previous failure with the same lines. */
  readonly beforeMs?: number | undefined;
};

type LastFailure = {
  readonly id: number;
  readonly failureClass: FailureClass;
  readonly lines?: FailureLines | undefined;
};

/** The facts of one job. Each fact comes from the newest run that has this fact. */
export type JobFacts = {
  readonly project: string;
  readonly group: string;
  readonly name: string;
  readonly jobId: string | undefined;
  readonly lastStartMs: number;
  readonly lastEndMs: number;
  readonly lastSuccessMs?: number | undefined;
  readonly lastDurationMs?: number | undefined;
  readonly lastDurationOfMs?: number | undefined;
  readonly lastId: number;
  readonly lastFailedId?: number | undefined;
  /** The end of the last failure; absent in states of earlier releases. */
  readonly lastFailedMs?: number | undefined;
  /** The last failure whose class is known: its id and its class. */
  readonly lastFailure?: LastFailure | undefined;
  readonly lastEnding: Ending;
  readonly consecutiveFailures: number;
  /** The ends of the newest consecutive failures, newest first. A success that becomes known late resets only earlier failures. */
  readonly failedMs?: readonly number[] | undefined;
  readonly averageDurationMs?: number | undefined;
  /** The durations of the last successes; absent in states of earlier releases. */
  readonly drift?: Drift | undefined;
  readonly flakiness?: Flakiness | undefined;
  /** The time since which the job list lacks the job. Values of a missing job are not published. */
  readonly goneSinceMs?: number | undefined;
  /** Which series the job has lost. They are stored but not published, and new runs count for `__other__`. */
  readonly leftOut?: 'all' | 'durations' | undefined;
};
