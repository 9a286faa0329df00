import type { Execution } from '../domain/execution.ts';
import type { Executions } from '../executions/executions.ts';

/** What the schedule watch needs from executions. */
export type ExecutionsPort = {
  /** The progress of each project; undefined before the first round. */
  readonly progress: () => ReadonlyMap<string, Progress> | undefined;
  readonly running: () => readonly Execution[];
  /** When the running executions of a project were read; undefined if they cannot be read. */
  readonly runningReadMs: (project: string) => number | undefined;
  /** Stores documents in a transaction of the ledger, never while executions are being counted. */
  readonly commit: Executions['commit'];
  readonly factsOf: Executions['factsOf'];
  /** Call before requesting a project's jobs: executions then use the list, and need not request it. */
  readonly beginJobList: Executions['beginJobList'];
  /** The duration that 75 % of a job's runs do not exceed. */
  readonly durationMs: (project: string, group: string, name: string) => number | undefined;
};

type Progress = {
  /** Runs that ended before this time are not counted. */
  readonly countedFromMs: number;
  /** All executions that ended before this time have been read. */
  readonly scannedThroughMs: number;
};

/** Returns a port to executions that are created later, because the two need each other. */
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
