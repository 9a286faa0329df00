import type { MissReason, WatchedJob } from './watched-job.ts';

/** What has to be asked about a job before a miss of it is decided. */
export type Doubt = 'runs' | 'definition' | 'past';

/** Finds what is to be asked before a time is decided as missed for a reason. */
export function findDoubt(job: WatchedJob, reason: MissReason, atMs: number): Doubt | undefined {
  if (job.goneAtMs !== undefined) return undefined;
  if (reason === 'overlap') return isDefinitionKnown(job, atMs) ? undefined : 'definition';
  const { runsAskedMs = -Infinity, shownMs = -Infinity } = job;
  // What runs is listed without regard to jobs: only a run that has ended shows that those of its job are shown.
  const isShown = runsAskedMs > atMs || shownMs > (job.verdicts.at(-1)?.expectedMs ?? Infinity);
  return !isShown && mayHaveRun.includes(reason) ? 'runs' : undefined;
}

/** Where the list does not show edits, a definition is good for a day. */
function isDefinitionKnown({ definition, lastModifiedMs }: WatchedJob, atMs: number): boolean {
  if (definition === undefined) return false;
  const { askedAtMs } = definition;
  // It may be ahead of the server's clock, as where a member with another one saved the job.
  return lastModifiedMs === undefined ? atMs - askedAtMs < dayMs : askedAtMs > Math.min(lastModifiedMs, atMs);
}

const dayMs = 86_400_000;

/** Reports whether several runs of a job may be under way at once: by its definition, else as was seen. */
export function maySeveral({ definition, allowsSeveral }: WatchedJob): boolean {
  return definition?.allowsSeveral ?? allowsSeveral === true;
}

/** Causes that do not rule out that it ran. */
const mayHaveRun: readonly MissReason[] = ['saturated', 'restart', 'clock', 'unknown'];

/** Notes whether the runs of a job are shown: the server counts hidden ones, and shows none. */
export function noteSight(job: WatchedJob, { areHidden, askedAtMs }: Sight): WatchedJob {
  const { hiddenMs = askedAtMs, ...rest } = job;
  return { ...rest, runsAskedMs: askedAtMs, ...(areHidden ? { hiddenMs } : {}) };
}

export type Sight = { readonly areHidden: boolean; readonly askedAtMs: number };
