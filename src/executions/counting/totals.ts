import type { Ending } from './naming.ts';

/** The kinds of cells: finished runs by job and by trigger, their durations, the nodes they ran on, and the nodes that failed. */
export const cellKinds = ['runs', 'project-runs', 'durations', 'nodes', 'node-failures'] as const;
export type CellKind = (typeof cellKinds)[number];

/** Reports whether its labels begin with those of a job. */
export function isOfJob(kind: CellKind): boolean {
  return kind === 'runs' || kind === 'durations' || kind === 'nodes';
}

/** One label set of a family that adds up, with what it has come to. */
export type Cell = {
  readonly kind: CellKind;
  readonly labels: readonly string[];
  readonly count: number;
  /** Of durations: their sum, and how many fell into each bucket, the last one open. */
  readonly sumSeconds?: number;
  readonly buckets?: readonly number[];
  /** True if its value has been shown: until then it is shown as 0, so that its first step can be seen. */
  readonly isReleased: boolean;
};

/** The known facts of one job, by its labels: the newest of each, in whatever order runs become known. */
export type JobFacts = {
  readonly project: string;
  readonly group: string;
  readonly name: string;
  readonly jobId: string | undefined;
  readonly lastStartMs: number;
  readonly lastEndMs: number;
  readonly lastSuccessMs?: number | undefined;
  readonly lastDurationMs?: number | undefined;
  /** The end of the run that had this duration. */
  readonly lastDurationOfMs?: number | undefined;
  readonly lastId: number;
  readonly lastFailedId?: number | undefined;
  /** When that one ended; a state of before does not tell. */
  readonly lastFailedMs?: number | undefined;
  readonly lastEnding: Ending;
  readonly consecutiveFailures: number;
  /** When the newest of these failures ended, the newest first, so that a success that turns up late resets only the earlier ones. */
  readonly failedMs?: readonly number[] | undefined;
  readonly averageDurationMs?: number | undefined;
  /** The time from which the list of jobs lacks it: it was deleted or renamed, and its last values are no longer shown. */
  readonly goneSinceMs?: number | undefined;
  /** The slots that it gave back: these series are kept but not shown, and its runs count as those of other jobs. */
  readonly leftOut?: 'all' | 'durations' | undefined;
};

export function toCellKey(kind: CellKind, labels: readonly string[]): string {
  return JSON.stringify([kind, ...labels]);
}

export function toJobKey(project: string, group: string, name: string): string {
  return JSON.stringify([project, group, name]);
}
