import type { MissReason, WatchedJob } from './watched-job.ts';

/** What has to be asked about a job before a miss of it is decided. */
export type Doubt = 'runs';

/** Finds what is to be asked before a time is decided as missed for a reason. */
export function findDoubt(job: WatchedJob, reason: MissReason, atMs: number): Doubt | undefined {
  if (job.goneAtMs !== undefined) return undefined;
  const { runsAskedMs = -Infinity, shownMs = -Infinity } = job;
  // What runs is listed without regard to jobs: only a run that has ended shows that those of its job are shown.
  const isShown = runsAskedMs > atMs || shownMs > (job.verdicts.at(-1)?.expectedMs ?? Infinity);
  return !isShown && mayHaveRun.includes(reason) ? 'runs' : undefined;
}

/** Causes that do not rule out that it ran. */
const mayHaveRun: readonly MissReason[] = ['orphaned', 'saturated', 'restart', 'unknown'];

/** Notes whether the runs of a job are shown: the server counts hidden ones, and shows none. */
export function noteSight(job: WatchedJob, { areHidden, askedAtMs }: Sight): WatchedJob {
  const { hiddenMs = askedAtMs, ...rest } = job;
  return { ...rest, runsAskedMs: askedAtMs, ...(areHidden ? { hiddenMs } : {}) };
}

export type Sight = { readonly areHidden: boolean; readonly askedAtMs: number };
