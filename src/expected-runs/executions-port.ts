import type { Job } from '../api/endpoints/jobs.ts';
import type { Execution } from '../domain/execution.ts';
import type { JobFacts } from '../domain/job.ts';
import type { LedgerDocument } from '../state/ledger.ts';
import type { SpooledTrace } from '../state/spool.ts';

export type ExecutionsPort = {
  /** Returns the progress of each project; undefined before the first round. */
  readonly progress: () => ReadonlyMap<string, Progress> | undefined;
  readonly running: () => readonly Execution[];
  /** Returns the time at which the running executions of a project were read; undefined if they cannot be read. */
  readonly runningReadMs: (project: string) => number | undefined;
  /** Stores documents in one transaction of the ledger. The call waits while executions are being counted. */
  readonly commit: (make: () => readonly LedgerDocument[], spooled?: readonly SpooledTrace[]) => Promise<void>;
  readonly factsOf: (project: string, group: string, name: string, jobId?: string) => JobFacts | undefined;
  /** Call before requesting the jobs of a project, so that executions can use the list instead of requesting it. */
  readonly beginJobList: (project: string) => LearnJobs | undefined;
  /** Returns the duration that 75 % of the runs of a job do not exceed. */
  readonly durationMs: (project: string, group: string, name: string, jobId?: string) => number | undefined;
};

type LearnJobs = (list: readonly Pick<Job, 'id' | 'group' | 'name'>[], nowMs: number) => Promise<void>;

type Executions = Omit<ExecutionsPort, 'running'> & {
  readonly status: () => { readonly running: readonly Execution[] };
};

type Progress = {
  /** The start of counting. Executions that ended earlier are not counted. */
  readonly countedFromMs: number;
  /** The time before which all ended executions have been read. */
  readonly scannedThroughMs: number;
};

/** Returns a port to executions that are created later, because each of the two rooms needs the other. */
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
