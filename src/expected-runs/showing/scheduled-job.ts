import type { JobFacts } from '../../executions/counting/totals.ts';
import {
  isOff,
  nextTime,
  type OffPeriod,
  quietUntil,
  undecidedTimes,
  type WatchedJob,
} from '../deciding/watched-job.ts';

/** A scheduled job as the list of jobs shows it. Times are the server's. */
export type ScheduledJob = Pick<WatchedJob, 'project' | 'group' | 'name' | 'verdicts'> & {
  readonly server: string;
  /** The server's time. */
  readonly nowMs: number;
  readonly nextMs: number | undefined;
  /** The time up to which nothing is expected; undefined where that is not known, or something is. */
  readonly quietUntilMs: number | undefined;
  /** The switches that are off. */
  readonly off: readonly OffPeriod['what'][];
  /** The run that ended last; undefined if none is known. */
  readonly lastRun: RunOfJob | undefined;
};

export type RunOfJob = { readonly id: number; readonly ending: string; readonly endedAtMs: number };

/** The times of a job that are not decided: those that are over, and those to come. */
export type TimesOfJob = { readonly openMs: readonly number[]; readonly comingMs: readonly number[] };

type About = { readonly server: string; readonly nowMs: number; readonly facts: JobFacts | undefined };

export function toScheduledJob(job: WatchedJob, { server, nowMs, facts }: About): ScheduledJob {
  const { project, group, name, verdicts, off } = job;
  const lastRun = facts && { id: facts.lastId, ending: facts.lastEnding, endedAtMs: facts.lastEndMs };
  const isOffNow = ({ untilMs }: OffPeriod): boolean => untilMs === undefined;
  const switches = off.filter(isOffNow).map(({ what }) => what);
  const next = { nextMs: nextTime(job, nowMs), quietUntilMs: quietUntil(job, nowMs) };
  return { server, project, group, name, verdicts, nowMs, ...next, off: switches, lastRun };
}

export function toTimes(job: WatchedJob, nowMs: number): TimesOfJob {
  const coming = isOff(job) ? [] : (job.timetable?.timesMs.filter((time) => time > nowMs) ?? []);
  return { openMs: undecidedTimes(job).filter((time) => time <= nowMs), comingMs: coming };
}
