import type { Execution } from '../domain/execution.ts';
import type { Executions } from '../executions/executions.ts';

/** Everything that the schedule watch gets from executions. Times are the server's. */
export type ExecutionsPort = {
  /** The progress of each project; undefined before the first round. */
  readonly progress: () => ReadonlyMap<string, Progress> | undefined;
  readonly running: () => readonly Execution[];
  /** When those of a project were read; undefined if they may not be. */
  readonly runningReadMs: (project: string) => number | undefined;
  /** Stores documents in a transaction of the ledger, in turn with counting. */
  readonly commit: Executions['commit'];
  readonly factsOf: Executions['factsOf'];
  /** Call before requesting a project's jobs: executions use the list, and need not request it. */
  readonly beginJobList: Executions['beginJobList'];
  /** The duration that three of four runs of a job do not exceed. */
  readonly durationMs: (project: string, group: string, name: string) => number | undefined;
};

export type Progress = {
  /** Runs that ended before this time are not counted. */
  readonly countedFromMs: number;
  /** Every execution that ended before this time has been read. */
  readonly scannedThroughMs: number;
};

/** Returns a port to executions that may not exist yet: each of the two needs the other. */
export function toExecutionsPort(executions: () => Executions | undefined): ExecutionsPort {
  return {
    progress: () => executions()?.progress(),
    running: () => executions()?.status().running ?? [],
    runningReadMs: (project) => executions()?.runningReadMs(project),
    commit: async (...given) => executions()?.commit(...given),
    beginJobList: (project) => executions()?.beginJobList(project),
    factsOf: (...job) => executions()?.factsOf(...job),
    durationMs: (...job) => executions()?.durationMs(...job),
  };
}
