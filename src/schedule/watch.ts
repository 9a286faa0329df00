import type { Api } from '../api/client.ts';
import type { Project } from '../api/endpoints/projects.ts';
import type { LabelPair } from '../metrics/family.ts';

/** The configuration of the server that a collector reads, and the data that its collectors share. */
export type Watch = {
  readonly projects: {
    /** The watched projects as the server lists them; asked for once, however many need it at the same time. */
    readonly read: (api: Api) => Promise<readonly Project[]>;
    /** Labels that configuration gives to a project. */
    readonly labelsOf: (project: string) => readonly LabelPair[];
  };
  readonly jobs: {
    /** Reports whether configuration includes a job; its path is `{project}/{group}/{name}`. */
    readonly isWanted: (path: string) => boolean;
    /** Of how many jobs there may be series of their own. */
    readonly detail: number;
    /** True if jobs are asked for their average durations; not if executions report them, which needs no further request. */
    readonly asksForAverages?: boolean;
    /** The averages that executions have not told for long; absent where there are no executions. */
    readonly averages?: {
      readonly takeDue: (project: string) => readonly string[];
      readonly learn: (job: { project: string; group: string; name: string }, averageMs: number) => Promise<void>;
    };
  };
  /** Reports whether execution metrics are read for a project, too. */
  readonly hasExecutionMetrics: (project: string) => boolean;
};
