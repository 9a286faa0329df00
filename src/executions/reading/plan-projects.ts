import type { LedgerChange, LedgerFacts } from '../ledger/ledger-documents.ts';
import { type ProjectState, toNewProject } from '../ledger/project-state.ts';
import { isInRestoreGap } from '../ledger/restore-gap.ts';

type ListingInput = {
  /** The projects that can be read. */
  readonly names: ReadonlySet<string>;
  readonly states: ReadonlyMap<string, ProjectState>;
  readonly facts: LedgerFacts;
  readonly nowMs: number;
  /** The time of the request for the list, which another poll may have sent. */
  readonly listedAtMs: number;
  /** The start of the current configuration. A project that the configuration adds is counted from this start on. */
  readonly begunMs?: number | undefined;
  readonly backfillMs: number;
  /** The configured start of counting. The start replaces the time of the first list. */
  readonly countFromMs?: number | undefined;
  readonly isWanted: (project: string) => boolean;
  /** The maximum delay until an execution becomes visible. */
  readonly overlapMs?: number;
  /** The largest difference between clocks of members; the list may have the date of a member that is ahead. */
  readonly skewMs?: number;
};

/**
 * Plans changes for a new list of projects. New projects start at the time of the previous list, and missing projects are put
 * on hold. If a project appears when another disappears, the project may have been renamed. So the new project starts with the
 * progress of the other project. The ids of counted executions prevent a second count.
 */
export function planProjects({
  names,
  states,
  facts,
  nowMs,
  listedAtMs,
  begunMs = nowMs,
  backfillMs,
  countFromMs = begunMs - backfillMs,
  isWanted,
  overlapMs = 0,
  skewMs = 0,
}: ListingInput): LedgerChange {
  const { listedAtMs: beforeMs } = facts;
  const listedBeginMs = beforeMs === undefined ? Math.min(countFromMs, begunMs) : Math.min(beforeMs, nowMs) - skewMs;
  const gone = [...states.values()].filter((state) => isWanted(state.project) && isGone(state, names, beforeMs));
  const readThrough = gone.map((state) => Math.max(state.countedFromMs, toUnreadMs(state) - overlapMs));
  const beginMs = Math.min(listedBeginMs, ...readThrough);
  const changed: ProjectState[] = [];
  for (const name of names) if (!states.has(name)) changed.push(toNewProject(name, beginMs));
  for (const state of states.values()) {
    const next = toListed(state, { names, nowMs, isWanted });
    if (next !== state) changed.push(next);
  }
  const begun = beforeMs === undefined ? { countedSinceMs: beginMs } : {};
  return { facts: { ...facts, ...begun, listedAtMs }, states: changed };
}

/**
 * Puts excluded projects on hold. Resumes projects that are no longer excluded, once the start of the current configuration is
 * known. Returns undefined without changes.
 */
export function planExcluded({
  states,
  facts,
  nowMs,
  begunMs,
  isWanted,
}: Pick<ListingInput, 'states' | 'facts' | 'nowMs' | 'begunMs' | 'isWanted'>): LedgerChange | undefined {
  const changed = [...states.values()].flatMap((state): ProjectState[] => {
    const isExcluded = state.hold === 'excluded';
    if (isWanted(state.project))
      return isExcluded && begunMs !== undefined ? [toNewProject(state.project, begunMs)] : [];
    // Executions since the backup were published before the restore, so they are counted first.
    if (isExcluded || isInRestoreGap(state, facts)) return [];
    return [{ ...state, hold: 'excluded', heldSinceMs: nowMs }];
  });
  return changed.length === 0 ? undefined : { states: changed };
}

/** Returns the time after which executions may be unread. Executions that become visible late may have ended earlier. */
function toUnreadMs({
  scannedThroughMs,
  backlog: [oldest] = [],
  againFromMs = scannedThroughMs,
}: ProjectState): number {
  return Math.min(scannedThroughMs, oldest?.beginMs ?? scannedThroughMs, againFromMs);
}

/** Reports whether a project disappeared from the list. A read may show that a project is missing before the list shows it. */
function isGone(
  { project, hold, heldSinceMs = Number.NEGATIVE_INFINITY }: ProjectState,
  names: ReadonlySet<string>,
  beforeMs = 0,
): boolean {
  if (names.has(project) || hold === 'excluded') return false;
  return hold === undefined || heldSinceMs >= beforeMs;
}

function toListed(
  state: ProjectState,
  { names, nowMs, isWanted }: Pick<ListingInput, 'names' | 'nowMs' | 'isWanted'>,
): ProjectState {
  const { project, hold } = state;
  if (names.has(project) || hold !== undefined || !isWanted(project)) return state;
  return { ...state, hold: 'hidden', heldSinceMs: nowMs };
}
