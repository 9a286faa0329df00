import type { Drift } from '../../domain/durations/drift.ts';
import type { StoredHistogram } from '../../domain/durations/stored-histogram.ts';
import type { FailureClass } from '../../domain/failure-class.ts';
import type { Flakiness } from './flaky.ts';
import type { Ending } from './naming.ts';

/** Kinds of cells: finished runs by job, finished runs by trigger, durations, classes of failures, nodes, and failed nodes. */
const cellKinds = ['runs', 'project-runs', 'durations', 'failures', 'nodes', 'node-failures'] as const;
export type CellKind = (typeof cellKinds)[number];

/** Reports whether the labels of this kind begin with those of a job. */
export function isOfJob(kind: CellKind): boolean {
  return kind === 'runs' || kind === 'durations' || kind === 'failures' || kind === 'nodes';
}

/** One label set of a counter, or of a histogram of durations, with its value. */
export type Cell = StoredHistogram & {
  readonly kind: CellKind;
  readonly labels: readonly string[];
  readonly startSeconds?: number;
  /** True once its value has been published. Until then it is published as 0, so that Prometheus sees the first increase. */
  readonly isReleased: boolean;
};

/** The fingerprint of the lines of a failure, and whether the job failed with these lines for the first time. */
export type FailureLines = {
  readonly fingerprint: string;
  readonly isNew: boolean;
  /** When the previous failure with the same lines ended. */
  readonly beforeMs?: number | undefined;
};

type LastFailure = {
  readonly id: number;
  readonly failureClass: FailureClass;
  readonly lines?: FailureLines | undefined;
};

/** The facts of one job. Each comes from the newest run that has it. */
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
  /** The class of the failure with this id, once it is known. */
  readonly lastFailure?: LastFailure | undefined;
  readonly lastEnding: Ending;
  readonly consecutiveFailures: number;
  /** The ends of the newest failures in a row, newest first: a success that becomes known late resets only earlier ones. */
  readonly failedMs?: readonly number[] | undefined;
  readonly averageDurationMs?: number | undefined;
  /** The durations of its last successes; absent in states of earlier releases. */
  readonly drift?: Drift | undefined;
  readonly flakiness?: Flakiness | undefined;
  /** When the list of jobs first lacked this job, because it was deleted or renamed; then its values are not published. */
  readonly goneSinceMs?: number | undefined;
  /** The slots that the job gave back: its own series are kept but not published, and new runs count for `__other__`. */
  readonly leftOut?: 'all' | 'durations' | undefined;
};

export function toCellKey(kind: CellKind, labels: readonly string[]): string {
  return JSON.stringify([kind, ...labels]);
}

export function toJobKey(project: string, group: string, name: string): string {
  return JSON.stringify([project, group, name]);
}
