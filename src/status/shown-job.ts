import type { Change } from '../diagnosis/changes/deciding/change.ts';
import type { Explanation } from '../diagnosis/changes/explain.ts';
import type { Shift } from '../domain/durations/drift.ts';
import type { JobNames } from '../domain/execution.ts';
import type { FailedRun } from '../domain/failure-class.ts';
import { type JobFacts, ofJobPath } from '../domain/job.ts';
import type { Why } from '../expected-runs/deciding/why.ts';
import type { ScheduledJob, TimesOfJob } from '../expected-runs/showing/scheduled-job.ts';
import { isFailure, isRunOf } from './running.ts';
import type { EndedStatus, RunningStatus } from './status.ts';

/** A job for its page, with or without a schedule. */
export type ShownJob = {
  readonly server: string;
  readonly path: string;
  /** The server time, now and when the running executions of the job were read. */
  readonly nowMs: number;
  readonly seenMs?: number | undefined;
  /** The schedule of a job; undefined without a watched schedule. */
  readonly schedule: ScheduleOfJob | undefined;
  /** The newest finished runs, newest first. */
  readonly runs: readonly EndedStatus[];
  readonly running: readonly RunningStatus[];
  /** The duration that 75 % of the runs do not exceed. */
  readonly usualMs: number | undefined;
  readonly overdueMs: number | undefined;
  readonly lastFailure?: FailedRun | undefined;
  /** The changes before the last run, if that run failed. */
  readonly explanation?: Explanation | undefined;
  readonly about?: AboutJob;
  /** The changes of the job itself, newest first. */
  readonly changes?: readonly Change[] | undefined;
  /** True if the results of the job change often. */
  readonly isFlaky?: boolean;
  /** The last lasting changes of durations, first of the job, then of its steps. */
  readonly shifts?: readonly ShownShift[];
};

/** A lasting change of durations of a step; of the whole job without `step`. `explanation`: changes at about the same time. */
export type ShownShift = Shift & { readonly step?: string; readonly explanation: Explanation | undefined };

export type ScheduleOfJob = TimesOfJob & { readonly job: ScheduledJob; readonly why: Why };

/** The configured owner, note and runbook of a job. */
export type AboutJob = {
  readonly owner?: string | undefined;
  readonly note?: string | undefined;
  readonly runbook?: string | undefined;
};

type Input = Pick<
  ShownJob,
  'server' | 'path' | 'about' | 'changes' | 'nowMs' | 'seenMs' | 'schedule' | 'lastFailure'
> & {
  /** The id of the job that has the path now, if the list of jobs shows it. */
  readonly jobId?: string | undefined;
  readonly failureOf?: (run: EndedStatus) => FailedRun | undefined;
  readonly explain?: (run: EndedStatus) => Explanation | undefined;
  /** Explains the changes between two runs of the job. */
  readonly explainShift?: (job: JobNames, usualUntilMs: number, sinceMs: number) => Explanation | undefined;
  readonly stepShifts?: readonly (Shift & { readonly step: string })[] | undefined;
  readonly ended: readonly EndedStatus[];
  readonly running: readonly RunningStatus[];
  readonly factsOf: (
    project: string,
    group: string,
    name: string,
    jobId: string | undefined,
  ) => Partial<Pick<JobFacts, 'jobId' | 'averageDurationMs' | 'drift' | 'flakiness'>> | undefined;
  readonly usualMsOf: (project: string, group: string, name: string, jobId?: string) => number | undefined;
  readonly overdueFactor: number;
  readonly overdueFloorMs: number;
};

/** Collects the data for the page of a job. Returns undefined if the job is not known. */
export function toShownJob(input: Input): ShownJob | undefined {
  const { server, path, nowMs, seenMs, schedule, ended, factsOf, overdueFactor, overdueFloorMs } = input;
  const { project, group, name } = schedule?.job ?? ofJobPath(path);
  const facts = factsOf(project, group, name, input.jobId);
  const job = { id: input.jobId ?? facts?.jobId, path };
  const runs = ended.filter((run) => isRunOf(run, job)).slice(0, maxRuns);
  const running = input.running.filter((run) => isRunOf(run, job));
  if (schedule === undefined && facts === undefined && runs.length === 0 && running.length === 0) return undefined;
  const averageMs = facts?.averageDurationMs ?? running[0]?.averageMs;
  const overdueMs = averageMs === undefined ? undefined : Math.max(overdueFactor * averageMs, overdueFloorMs);
  const explanation = runs[0] && input.explain?.(runs[0]);
  const isFlaky = facts?.flakiness?.isFlaky === true;
  const { shift } = facts?.drift ?? {};
  const shifts = [...(shift === undefined ? [] : [shift]), ...(input.stepShifts ?? [])].map((each) => ({
    ...each,
    explanation: explainShift(each, { project, group, name }, input.explainShift),
  }));
  const usualMs = input.usualMsOf(project, group, name, input.jobId);
  const lastFailure = findLastFailure(input, runs, job);
  const own = { runs, running, usualMs, overdueMs, lastFailure, explanation, isFlaky, shifts };
  return { server, path, nowMs, seenMs, schedule, about: input.about ?? {}, changes: input.changes ?? [], ...own };
}

function explainShift({ usualUntilMs, sinceMs }: Shift, job: JobNames, explain: Input['explainShift']) {
  return usualUntilMs === undefined ? undefined : explain?.(job, usualUntilMs, sinceMs);
}

/** Returns the last failure of a job. Causes are stored by name, so the cause may be of another job. */
function findLastFailure(
  { ended, lastFailure, failureOf }: Input,
  runs: readonly EndedStatus[],
  job: Parameters<typeof isRunOf>[1],
): FailedRun | undefined {
  const newest = runs.find(isFailure);
  const own = newest && failureOf?.(newest);
  const named = ended.find(({ id }) => id === lastFailure?.id);
  return own ?? (named === undefined || isRunOf(named, job) ? lastFailure : undefined);
}

const maxRuns = 100;
