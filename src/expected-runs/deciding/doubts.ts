import type { MissReason, WatchedJob } from './watched-job.ts';

/** The request about a job that must be answered before one of its missed runs is decided. */
export type Doubt = 'runs' | 'definition' | 'past';

/** Returns the request that must be answered before a run counts as missed for a reason. */
export function findDoubt(job: WatchedJob, reason: MissReason, atMs: number): Doubt | undefined {
  if (job.goneAtMs !== undefined) return undefined;
  if (reason === 'overlap') return isDefinitionKnown(job, atMs) ? undefined : 'definition';
  const { runsAskedMs = -Infinity, shownMs = -Infinity } = job;
  // A finished execution proves that the history of the job is visible; a running execution does not.
  const isShown = runsAskedMs > atMs || shownMs > (job.verdicts.at(-1)?.expectedMs ?? Infinity);
  return !isShown && mayHaveRun.includes(reason) ? 'runs' : undefined;
}

/** Reports whether the definition is known. If the list shows no edit dates, a definition is valid for a day. */
function isDefinitionKnown({ definition, lastModifiedMs }: WatchedJob, atMs: number): boolean {
  if (definition === undefined) return false;
  const { askedAtMs } = definition;
  // The date of an edit comes from the clock of another member, so it may be in the future.
  return lastModifiedMs === undefined ? atMs - askedAtMs < dayMs : askedAtMs > Math.min(lastModifiedMs, atMs);
}

const dayMs = 86_400_000;

/** Reports whether a job allows concurrent runs, by its definition or by observation. */
function maySeveral({ definition, allowsSeveral }: WatchedJob): boolean {
  return definition?.allowsSeveral ?? allowsSeveral === true;
}

export function toMostAtOnce(job: WatchedJob): number {
  return maySeveral(job) ? (job.definition?.mostAtOnce ?? Number.POSITIVE_INFINITY) : 1;
}

/** Causes for which the job may nevertheless have run. */
const mayHaveRun: readonly MissReason[] = ['saturated', 'restart', 'clock', 'unknown'];

/** Records whether the runs of a job are hidden. Hidden runs are counted in the server's totals, but not listed. */
export function noteSight(job: WatchedJob, { areHidden, askedAtMs }: Sight): WatchedJob {
  const { hiddenMs = askedAtMs, ...rest } = job;
  return { ...rest, runsAskedMs: askedAtMs, ...(areHidden ? { hiddenMs } : {}) };
}

type Sight = { readonly areHidden: boolean; readonly askedAtMs: number };
