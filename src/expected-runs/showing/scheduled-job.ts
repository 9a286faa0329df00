import type { JobFacts } from '../../domain/job.ts';
import { type Blocker, findBlockers } from '../deciding/blockers.ts';
import type { Sources } from '../deciding/sources.ts';
import { isOff, nextTime, quietUntil, undecidedTimes, type WatchedJob } from '../deciding/watched-job.ts';

/** A scheduled job from the job list. Times are server times. */
export type ScheduledJob = Pick<WatchedJob, 'id' | 'project' | 'group' | 'name' | 'verdicts'> & {
  readonly server: string;
  readonly nowMs: number;
  readonly nextMs: number | undefined;
  /** The time until which no start is expected, if known. */
  readonly quietUntilMs: number | undefined;
  /** The findings that prevent the schedule from starting the job now. */
  readonly blockers: readonly Blocker[];
  readonly lastRun: RunOfJob | undefined;
  /** True if the results of the job change often. */
  readonly isFlaky?: boolean;
};

type RunOfJob = { readonly id: number; readonly ending: string; readonly endedAtMs: number };

export type TimesOfJob = { readonly openMs: readonly number[]; readonly comingMs: readonly number[] };

type About = {
  readonly server: string;
  readonly nowMs: number;
  readonly facts: JobFacts | undefined;
  readonly sources: Sources;
};

export function toScheduledJob(job: WatchedJob, { server, nowMs, facts, sources }: About): ScheduledJob {
  const { id, project, group, name, verdicts } = job;
  const lastRun = facts && { id: facts.lastId, ending: facts.lastEnding, endedAtMs: facts.lastEndMs };
  const blockers = findBlockers(job, sources, nowMs);
  const next = { nextMs: nextTime(job, nowMs), quietUntilMs: quietUntil(job, nowMs) };
  const habits = facts?.flakiness?.isFlaky === true ? { isFlaky: true } : {};
  return { server, id, project, group, name, verdicts, nowMs, ...next, blockers, lastRun, ...habits };
}

export function toTimes(job: WatchedJob, nowMs: number): TimesOfJob {
  const coming = isOff(job) ? [] : (job.timetable?.timesMs.filter((time) => time > nowMs) ?? []);
  return { openMs: undecidedTimes(job).filter((time) => time <= nowMs), comingMs: coming };
}
