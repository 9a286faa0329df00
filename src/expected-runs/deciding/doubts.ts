import type { MissReason, WatchedJob } from './watched-job.ts';

/** The request that must be answered before a missed run of a job is decided. */
export type Doubt = 'runs' | 'definition' | 'past';

export function findDoubt(job: WatchedJob, reason: MissReason, atMs: number): Doubt | undefined {
  if (job.goneAtMs !== undefined) return undefined;
  if (reason === 'overlap') return isDefinitionKnown(job, atMs) ? undefined : 'definition';
  const { runsAskedMs = -Infinity, shownMs = -Infinity } = job;
  // A finished execution proves that the runs of the job are visible; a running execution does not.
  const isShown = runsAskedMs > atMs || shownMs > (job.verdicts.at(-1)?.expectedMs ?? Infinity);
  return !isShown && mayHaveRun.includes(reason) ? 'runs' : undefined;
}

/** Reports whether the definition is known. If the list shows no edit dates, a definition is valid for a day. */
function isDefinitionKnown({ definition, lastModifiedMs }: WatchedJob, atMs: number): boolean {
  if (definition === undefined) return false;
  const { askedAtMs } = definition;
  // By the clock of another member, the edit may be in the future.
  return lastModifiedMs === undefined ? atMs - askedAtMs < dayMs : askedAtMs > Math.min(lastModifiedMs, atMs);
}

const dayMs = 86_400_000;

/** Reports whether a job may have concurrent runs: by its definition, or because two were seen. */
function maySeveral({ definition, allowsSeveral }: WatchedJob): boolean {
  return definition?.allowsSeveral ?? allowsSeveral === true;
}

export function toMostAtOnce(job: WatchedJob): number {
  return maySeveral(job) ? (job.definition?.mostAtOnce ?? Number.POSITIVE_INFINITY) : 1;
}

/** Causes after which the job may still have run. */
const mayHaveRun: readonly MissReason[] = ['saturated', 'restart', 'clock', 'unknown'];

/** Records whether runs of a job are hidden: the server's totals count them, but no list has them. */
export function noteSight(job: WatchedJob, { areHidden, askedAtMs }: Sight): WatchedJob {
  const { hiddenMs = askedAtMs, ...rest } = job;
  return { ...rest, runsAskedMs: askedAtMs, ...(areHidden ? { hiddenMs } : {}) };
}

type Sight = { readonly areHidden: boolean; readonly askedAtMs: number };
