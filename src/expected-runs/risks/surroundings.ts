import type { JobNames } from '../../domain/job-path.ts';
import type { WatchedJob } from '../deciding/watched-job.ts';

/** What jobs depend on, as far as it is read for the journal of changes. Times are the server's. */
export type Surroundings = {
  readonly areDefinitionsRead: boolean;
  readonly areKeysRead: boolean;
  readonly areNodesRead: boolean;
  readonly childrenOf: (jobId: string) => readonly JobNames[];
  /** When the inventory of a project no longer had a node; undefined if it has it, or never had it. */
  readonly nodeGoneMs: (project: string, node: string) => number | undefined;
  /** Reports whether nothing changed since then that may let a refused job in; undefined if that was not read. */
  readonly isAccessUnchanged: (job: WatchedJob, sinceMs: number) => boolean | undefined;
  /** What most jobs that fail now have in common, if a job has it too. */
  readonly causeOf: (job: WatchedJob) => SharedCause | undefined;
};

export type SharedCause = {
  /** What it is, such as `node`, and its name; empty if it is not shown. */
  readonly kind: string;
  readonly subject: string;
  /** When the first of the jobs with it failed. */
  readonly sinceMs: number;
  /** The jobs that failed, and those of them that have it; likewise those that succeeded. */
  readonly failed: number;
  readonly covered: number;
  readonly succeeded: number;
  readonly spared: number;
};
