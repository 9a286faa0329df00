import type { LedgerChange, LedgerFacts } from '../ledger/ledger-documents.ts';
import { type ProjectState, toNewProject } from '../ledger/project-state.ts';
import { isInRestoreGap } from '../ledger/restore-gap.ts';

type ListingInput = {
  /** The projects that can be read now. */
  readonly names: ReadonlySet<string>;
  readonly states: ReadonlyMap<string, ProjectState>;
  readonly facts: LedgerFacts;
  readonly nowMs: number;
  /** When the list was requested, perhaps by another poll. */
  readonly listedAtMs: number;
  /** When the present configuration took effect: a project that it adds counts from then on. */
  readonly begunMs?: number | undefined;
  readonly backfillMs: number;
  /** The configured start of counting, which replaces the time of the first list. */
  readonly countFromMs?: number | undefined;
  readonly isWanted: (project: string) => boolean;
  /** The longest delay until an execution becomes visible. */
  readonly overlapMs?: number;
  /** The largest difference between members' clocks: a member with a fast clock may have dated the list. */
  readonly skewMs?: number;
};

/**
 * Plans the changes for a new list of projects: new projects begin where the previous list ended, and missing ones are put on
 * hold. A project that appears when another disappears may be the renamed project, so it continues from the progress of the
 * other. Executions counted before are recognized by their ids.
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
 * Puts excluded projects on hold. Once the start of the present configuration is known, resumes projects that are no longer
 * excluded. Undefined without changes.
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
    // Executions that were counted after the copy was made have been published, so they are counted again first.
    if (isExcluded || isInRestoreGap(state, facts)) return [];
    return [{ ...state, hold: 'excluded', heldSinceMs: nowMs }];
  });
  return changed.length === 0 ? undefined : { states: changed };
}

/** Returns the time from which executions may be unread: executions that become visible late ended before the last read. */
function toUnreadMs({
  scannedThroughMs,
  backlog: [oldest] = [],
  againFromMs = scannedThroughMs,
}: ProjectState): number {
  return Math.min(scannedThroughMs, oldest?.beginMs ?? scannedThroughMs, againFromMs);
}

/** Reports whether a project was in the last list and is not in this one. A read may have found it missing earlier. */
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
