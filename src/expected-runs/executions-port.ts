import type { Execution } from '../domain/execution.ts';
import type { Executions } from '../executions/executions.ts';
import type { LedgerDocument } from '../state/ledger.ts';

/** All that the schedule watch knows of the rounds over executions. Times are the server's. */
export type ExecutionsPort = {
  /** How far each project is read; undefined before the first round. */
  readonly progress: () => ReadonlyMap<string, Progress> | undefined;
  /** The runs under way, as far as they may be read. */
  readonly running: () => readonly Execution[];
  /** When those of a project were read; undefined where they may not be. */
  readonly runningReadMs: (project: string) => number | undefined;
  /** Keeps documents in a transaction of the ledger: one change at a time, counting included. */
  readonly commit: (make: () => readonly LedgerDocument[]) => Promise<void>;
  readonly factsOf: Executions['factsOf'];
  /** Begins before the jobs of a project are asked for: the rounds learn from the list, and need not ask for it. */
  readonly beginJobList: Executions['beginJobList'];
  /** The duration that three of four runs of a job do not exceed. */
  readonly durationMs: (project: string, group: string, name: string) => number | undefined;
};

export type Progress = {
  /** Runs that ended before this time are not counted. */
  readonly countedFromMs: number;
  /** Every end up to here has been read. */
  readonly scannedThroughMs: number;
};

/** The port of executions that may not be there yet: each of the two needs the other. */
export function toExecutionsPort(executions: () => Executions | undefined): ExecutionsPort {
  return {
    progress: () => executions()?.progress(),
    running: () => executions()?.status().running ?? [],
    runningReadMs: (project) => executions()?.runningReadMs(project),
    commit: async (make) => executions()?.commit(make),
    beginJobList: (project) => executions()?.beginJobList(project),
    factsOf: (...job) => executions()?.factsOf(...job),
    durationMs: (...job) => executions()?.durationMs(...job),
  };
}
