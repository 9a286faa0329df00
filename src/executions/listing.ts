import type { BookChange, ServerFacts } from './book.ts';
import { type ProjectState, toNewProject } from './project-state.ts';

type ListingInput = {
  /** The projects that may be read now. */
  readonly names: ReadonlySet<string>;
  readonly states: ReadonlyMap<string, ProjectState>;
  readonly facts: ServerFacts;
  readonly nowMs: number;
  /** When the list was asked for: it may have been shared. */
  readonly listedAtMs: number;
  readonly backfillMs: number;
  readonly isWanted: (project: string) => boolean;
  /** How far the clocks of members were seen apart: a list may have been dated by one that is ahead. */
  readonly skewMs?: number;
};

/** What a list of the projects changes: new ones begin where the list before ended, those that are gone are held. */
export function planListing({
  names,
  states,
  facts,
  nowMs,
  listedAtMs,
  backfillMs,
  isWanted,
  skewMs = 0,
}: ListingInput): BookChange {
  const beginMs = facts.listedAtMs === undefined ? nowMs - backfillMs : Math.min(facts.listedAtMs, nowMs) - skewMs;
  const changed: ProjectState[] = [];
  for (const name of names) if (!states.has(name)) changed.push(toNewProject(name, beginMs));
  for (const state of states.values()) {
    const next = toListed(state, names, nowMs, isWanted);
    if (next !== state) changed.push(next);
  }
  return { facts: { ...facts, listedAtMs }, states: changed };
}

function toListed(
  state: ProjectState,
  names: ReadonlySet<string>,
  nowMs: number,
  isWanted: (project: string) => boolean,
): ProjectState {
  const { project, hold } = state;
  if (!isWanted(project)) return hold === 'excluded' ? state : { ...state, hold: 'excluded', heldSinceMs: nowMs };
  // Included again: counting begins now.
  if (hold === 'excluded') return toNewProject(project, nowMs);
  if (names.has(project) || hold !== undefined) return state;
  return { ...state, hold: 'hidden', heldSinceMs: nowMs };
}
