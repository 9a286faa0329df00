import type { LedgerCache } from '../ledger/ledger-cache.ts';
import type { ProjectState } from '../ledger/project-state.ts';
import type { Activities } from '../reading/activities.ts';

/** How far behind the project is that was read longest ago; quiet is not lag, and what can not be read is left out. */
export function toLagSeconds(cache: Pick<LedgerCache, 'states'>, activities: Activities, nowMs: number): number {
  let oldestMs = nowMs;
  for (const { project, hold, scannedThroughMs } of cache.states.values()) {
    const isUnshown = activities.all.get(project)?.unshownSinceMs !== undefined;
    if (hold === undefined && !isUnshown) oldestMs = Math.min(oldestMs, scannedThroughMs);
  }
  return (nowMs - oldestMs) / 1000;
}

/** What a round left undone; undefined where it did all that it could. */
export function toNote(
  { states }: Pick<LedgerCache, 'states'>,
  activities: Activities,
  unasked: number,
): string | undefined {
  const isBehind = ({ project, backlog, hold }: ProjectState): boolean =>
    backlog !== undefined && hold === undefined && activities.all.get(project)?.unshownSinceMs === undefined;
  const behind = [...states.values()].filter(isBehind).length;
  const parts = [
    ...(unasked > 0 ? [`${unasked} reads waited for the request budget`] : []),
    ...(behind > 0 ? [`${behind} projects are still catching up`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
}
