import type { LedgerCache } from '../ledger/ledger-cache.ts';
import type { ProjectState } from '../ledger/project-state.ts';
import type { Activities } from '../reading/activities.ts';

/**
 * Computes the lag of the project that is furthest behind; idle projects do not lag, and those that cannot be read do not
 * count.
 */
export function toLagSeconds(cache: Pick<LedgerCache, 'states'>, activities: Activities, nowMs: number): number {
  let oldestMs = nowMs;
  for (const { project, hold, scannedThroughMs } of cache.states.values()) {
    const isUnshown = activities.all.get(project)?.unshownSinceMs !== undefined;
    if (hold === undefined && !isUnshown) oldestMs = Math.min(oldestMs, scannedThroughMs);
  }
  return (nowMs - oldestMs) / 1000;
}

/** Describes the work that a round left undone; undefined if it did all that it could. */
export function toNote(
  { states }: Pick<LedgerCache, 'states'>,
  activities: Activities,
  unasked: number,
): string | undefined {
  const isBehind = ({ project, backlog, hold }: ProjectState): boolean =>
    backlog !== undefined && hold === undefined && activities.all.get(project)?.unshownSinceMs === undefined;
  const behind = [...states.values()].filter(isBehind).length;
  const notes = [
    ...(unasked > 0 ? [`${unasked} reads waited for the request budget`] : []),
    ...(behind > 0 ? [`${behind} projects are still catching up`] : []),
  ];
  return notes.length === 0 ? undefined : notes.join('; ');
}
