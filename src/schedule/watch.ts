import type { Api } from '../api/client.ts';
import type { Project } from '../api/endpoints/projects.ts';
import type { LabelPair } from '../metrics/family.ts';

/** The configuration of the server for a collector, and data that its collectors share. */
export type Watch = {
  readonly projects: {
    /** Returns the watched projects that the server lists; one request for all simultaneous callers. */
    readonly read: (api: Api) => Promise<readonly Project[]>;
    readonly labelsOf: (project: string) => readonly LabelPair[];
  };
  readonly jobs: {
    /** Reports whether configuration includes a job; its path is `{project}/{group}/{name}`. */
    readonly isWanted: (path: string) => boolean;
    /** How many jobs may have their own series. */
    readonly detail: number;
    /** True if average durations are requested; false if executions report them without further requests. */
    readonly asksForAverages?: boolean;
    /** The averages that executions have not updated for long; absent without executions. */
    readonly averages?: {
      readonly takeDue: (project: string) => readonly string[];
      readonly learn: (job: { project: string; group: string; name: string }, averageMs: number) => Promise<void>;
    };
  };
  readonly hasExecutionMetrics: (project: string) => boolean;
};
