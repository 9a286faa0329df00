import type { StoredHistogram } from '../../domain/durations/stored-histogram.ts';

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

export function toCellKey(kind: CellKind, labels: readonly string[]): string {
  return JSON.stringify([kind, ...labels]);
}

export function toJobKey(project: string, group: string, name: string): string {
  return JSON.stringify([project, group, name]);
}
