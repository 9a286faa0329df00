import type { Window } from '../api/paging.ts';
import type { ProjectActivity, ProjectState } from './project-state.ts';

/** Why a project is read: it is active, its turn has come, it is far behind, or it may have come back. */
export type Purpose = 'live' | 'rotation' | 'behind' | 'probe';

export type PlannedRead = { readonly project: string; readonly window: Window; readonly purpose: Purpose };

export type PlanInput = {
  readonly states: ReadonlyMap<string, ProjectState>;
  readonly activities: ReadonlyMap<string, ProjectActivity>;
  /** The server's now: never ours, never the newest end that was seen. */
  readonly nowMs: number;
  readonly everyMs: number;
  readonly overlapMs: number;
  readonly maxDelayMs: number;
  /** Idle projects that were not read since this time are read as soon as possible; absent where nothing hints at them. */
  readonly sweepBeforeMs: number | undefined;
  /** Reads of idle projects that a round has room for while such a sweep goes on. */
  readonly sweepQuota: number;
};

/** What a round reads: the active projects, and of the others those whose turn has come; what is behind comes last. */
export function planReads(input: PlanInput): PlannedRead[] {
  const { states, activities, nowMs, everyMs, maxDelayMs, sweepBeforeMs, sweepQuota } = input;
  const live: PlannedRead[] = [];
  const behind: PlannedRead[] = [];
  const idle: ProjectState[] = [];
  for (const state of states.values()) {
    if (state.hold === 'excluded') continue;
    const activity = activities.get(state.project);
    const isActive = activity !== undefined && activity.activeUntilMs > nowMs;
    if (isOutOfSight(state, input) || !isActive) idle.push(state);
    else if (isBehind(state, input)) behind.push(toRead(state, 'behind', input));
    else live.push(toRead(state, 'live', input));
  }
  const readAt = ({ project, scannedThroughMs }: ProjectState): number =>
    activities.get(project)?.readAtMs ?? scannedThroughMs;
  // What has gone from the list may be deleted: its series end as soon as that is known.
  const isGone = (state: ProjectState): boolean => readAt(state) < (state.heldSinceMs ?? 0);
  const gone = idle.filter(isGone).slice(0, mostGone);
  idle.sort((one, other) => readAt(one) - readAt(other));
  const sweeping = sweepBeforeMs === undefined ? 0 : idle.filter((state) => readAt(state) < sweepBeforeMs).length;
  const quota = Math.max(Math.ceil((idle.length * everyMs) / maxDelayMs), Math.min(sweeping, sweepQuota));
  const turns = [...new Set([...gone, ...idle.slice(0, quota)])].map((state) =>
    toRead(state, toPurpose(state, input), input),
  );
  return [...live, ...turns.filter(({ purpose }) => purpose !== 'behind'), ...behind, ...turns.filter(isOfBehind)];
}

/** After so long without one row that is shown, its turn is enough for a project. */
const unshownForMs = 600_000;

/** How many of those that are gone a round looks for before their turn. */
const mostGone = 5;

/** The least part of a longer past that is read, and kept, at once. */
const stepMs = 86_400_000;

function toRead(state: ProjectState, purpose: Purpose, { nowMs, overlapMs, activities }: PlanInput): PlannedRead {
  // A clock that was set back has ends to tell that lie before what was read.
  const fromMs = Math.min(state.scannedThroughMs, nowMs);
  const isWide =
    purpose === 'rotation' && (activities.get(state.project)?.nextDayMs ?? Number.POSITIVE_INFINITY) <= nowMs;
  const beginMs = Math.max(isWide ? nowMs - stepMs : fromMs - overlapMs, state.countedFromMs);
  const endMs = purpose === 'behind' ? Math.min(nowMs, fromMs + stepMs) : nowMs;
  return { project: state.project, window: { beginMs: Math.min(beginMs, fromMs), endMs }, purpose };
}

function toPurpose(state: ProjectState, input: PlanInput): Purpose {
  if (isOutOfSight(state, input)) return 'probe';
  return isBehind(state, input) ? 'behind' : 'rotation';
}

function isOutOfSight({ project, hold }: ProjectState, { activities, nowMs }: PlanInput): boolean {
  const sinceMs = activities.get(project)?.unshownSinceMs ?? nowMs;
  return hold !== undefined || nowMs - sinceMs > unshownForMs;
}

/** A day of which no row is shown tells nothing of the days after it: then all of them are read. */
function isBehind({ project, scannedThroughMs }: ProjectState, { activities, nowMs }: PlanInput): boolean {
  return scannedThroughMs < nowMs - stepMs && activities.get(project)?.unshownSinceMs === undefined;
}

function isOfBehind({ purpose }: PlannedRead): boolean {
  return purpose === 'behind';
}
