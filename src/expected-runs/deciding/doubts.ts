import type { MissReason, WatchedJob } from './watched-job.ts';

/** What must be requested about a job before one of its missed runs is decided. */
export type Doubt = 'runs' | 'definition' | 'past';

/** Returns what must be requested before a run counts as missed for this reason. */
export function findDoubt(job: WatchedJob, reason: MissReason, atMs: number): Doubt | undefined {
  if (job.goneAtMs !== undefined) return undefined;
  if (reason === 'overlap') return isDefinitionKnown(job, atMs) ? undefined : 'definition';
  const { runsAskedMs = -Infinity, shownMs = -Infinity } = job;
  // A finished execution shows that the job's history is visible; a running one does not.
  const isShown = runsAskedMs > atMs || shownMs > (job.verdicts.at(-1)?.expectedMs ?? Infinity);
  return !isShown && mayHaveRun.includes(reason) ? 'runs' : undefined;
}

/** If the list does not show edits, a definition counts as known for a day. */
function isDefinitionKnown({ definition, lastModifiedMs }: WatchedJob, atMs: number): boolean {
  if (definition === undefined) return false;
  const { askedAtMs } = definition;
  // The edit may have a future date if a member with another clock saved the job.
  return lastModifiedMs === undefined ? atMs - askedAtMs < dayMs : askedAtMs > Math.min(lastModifiedMs, atMs);
}

const dayMs = 86_400_000;

/** Reports whether several runs of a job may run at the same time: by its definition, otherwise by observation. */
function maySeveral({ definition, allowsSeveral }: WatchedJob): boolean {
  return definition?.allowsSeveral ?? allowsSeveral === true;
}

/** Returns how many runs of a job may run at the same time. */
export function toMostAtOnce(job: WatchedJob): number {
  return maySeveral(job) ? (job.definition?.mostAtOnce ?? Number.POSITIVE_INFINITY) : 1;
}

/** Causes for which the job may still have run. */
const mayHaveRun: readonly MissReason[] = ['saturated', 'restart', 'clock', 'unknown'];

/** Records whether the runs of a job are shown: the server counts hidden ones. */
export function noteSight(job: WatchedJob, { areHidden, askedAtMs }: Sight): WatchedJob {
  const { hiddenMs = askedAtMs, ...rest } = job;
  return { ...rest, runsAskedMs: askedAtMs, ...(areHidden ? { hiddenMs } : {}) };
}

type Sight = { readonly areHidden: boolean; readonly askedAtMs: number };
