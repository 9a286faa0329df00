import type { StoredHistogram } from '../../domain/durations/stored-histogram.ts';

/** What cells count: runs by job, runs by trigger, durations, failures by class, node results, failures of nodes. */
const cellKinds = ['runs', 'project-runs', 'durations', 'failures', 'nodes', 'node-failures'] as const;
export type CellKind = (typeof cellKinds)[number];

/** Reports whether cells of a kind have the labels of a job first. */
export function isOfJob(kind: CellKind): boolean {
  return kind === 'runs' || kind === 'durations' || kind === 'failures' || kind === 'nodes';
}

/** The value of one label set: a counter, or a histogram of durations. */
export type Cell = StoredHistogram & {
  readonly kind: CellKind;
  readonly labels: readonly string[];
  readonly startSeconds?: number;
  /** True once the value has been published. Before that time, 0 is published, so that Prometheus sees the first increase. */
  readonly isReleased: boolean;
};

export function toCellKey(kind: CellKind, labels: readonly string[]): string {
  return JSON.stringify([kind, ...labels]);
}

export function toJobKey(project: string, group: string, name: string): string {
  return JSON.stringify([project, group, name]);
}
