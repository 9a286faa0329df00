import type { Window } from '../../api/paging.ts';
import { type ProjectActivity, type ProjectState, readThroughMs } from '../ledger/project-state.ts';

/** Why a project is read: it is active, the rotation has come to it, something ended somewhere, or it may have come back. */
export type Purpose = 'live' | 'rotation' | 'search' | 'probe';

export type PlannedRead = {
  readonly project: string;
  /** The window to ask for: up to now, and at most a day. */
  readonly window: Window;
  /** From here on all is to be read, now or later. */
  readonly sinceMs: number;
  readonly purpose: Purpose;
};

export type PlanInput = {
  readonly states: ReadonlyMap<string, ProjectState>;
  readonly activities: ReadonlyMap<string, ProjectActivity>;
  /** The server's now: never ours, never the newest end that was seen. */
  readonly nowMs: number;
  readonly everyMs: number;
  readonly overlapMs: number;
  /** Times that never were, because the clock was set ahead: what is late may be dated before them. */
  readonly leap?: Window | undefined;
  readonly maxDelayMs: number;
  /** Idle projects that were not read since this time are read as soon as possible. */
  readonly sweepBeforeMs: number | undefined;
  /** The number of reads of idle projects that a round has room for while such a sweep is in progress. */
  readonly sweepQuota: number;
  /** The number of reads that a round has room for while something is searched. */
  readonly searchQuota: number;
};

/** Plans the reads of a round up to now: the active projects, and of the others those that are due. */
export function planReads(input: PlanInput): PlannedRead[] {
  const { states, activities, nowMs, everyMs, maxDelayMs, sweepBeforeMs, sweepQuota } = input;
  const live: PlannedRead[] = [];
  const idle: ProjectState[] = [];
  const readAt = ({ project, scannedThroughMs }: ProjectState): number =>
    activities.get(project)?.readAtMs ?? scannedThroughMs;
  for (const state of states.values()) {
    if (state.hold === 'excluded') continue;
    const activity = activities.get(state.project);
    if (isResting(state, readAt(state), input)) continue;
    const isActive = activity !== undefined && activity.activeUntilMs > nowMs;
    if (isOutOfSight(state, input) || !isActive) idle.push(state);
    else live.push(toRead(state, 'live', input));
  }
  // A project that is gone from the list may be deleted: its series end as soon as that is certain.
  const isGone = (state: ProjectState): boolean => readAt(state) < (state.heldSinceMs ?? 0);
  const gone = idle.filter(isGone).slice(0, maxGone);
  idle.sort((one, other) => readAt(one) - readAt(other));
  // Rounds that take long come less often than planned: what has waited for the whole delay is read at once.
  const sweptBeforeMs = Math.max(sweepBeforeMs ?? Number.NEGATIVE_INFINITY, nowMs - maxDelayMs);
  const sweeping = idle.filter((state) => readAt(state) < sweptBeforeMs).length;
  const quota = Math.max(Math.ceil((idle.length * everyMs) / maxDelayMs), Math.min(sweeping, sweepQuota));
  const rotation = [...new Set([...gone, ...idle.slice(0, quota)])].map((state) =>
    toRead(state, isOutOfSight(state, input) ? 'probe' : 'rotation', input),
  );
  return [...live, ...rotation];
}

/** Plans the reads of projects that were not read since a search began, the likeliest ones first. */
export function planSearch(input: PlanInput, sinceMs: number): PlannedRead[] {
  const { states, activities, nowMs, searchQuota } = input;
  return [...states.values()]
    .filter((state) => !isOutOfSight(state, input) && (activities.get(state.project)?.readAtMs ?? 0) < sinceMs)
    .map((state) => ({ state, waitMs: toWaitMs(activities.get(state.project), nowMs) }))
    .toSorted((one, other) => one.waitMs - other.waitMs)
    .slice(0, searchQuota)
    .map(({ state }) => toRead(state, 'search', input));
}

/** The time that has passed since a project was to run again, as far as its last two runs show a rhythm; else the time since its last run. */
function toWaitMs(activity: ProjectActivity | undefined, nowMs: number): number {
  const [last, before] = activity?.lastRunsMs ?? [];
  if (last === undefined) return Number.POSITIVE_INFINITY;
  const sinceMs = Math.max(0, nowMs - last);
  return before === undefined || last <= before ? sinceMs : sinceMs % (last - before);
}

/** Reports whether a project is behind and nothing keeps it from being caught up with. */
export function isCaughtUpWith(state: ProjectState, now: Pick<PlanInput, 'activities' | 'nowMs'>): boolean {
  return state.backlog !== undefined && !isOutOfSight(state, now);
}

/** A project without any shown row for longer than this is read only when it is due. */
const unshownForMs = 600_000;

/** The most missing projects that a round reads before they are due. */
const maxGone = 5;

/** The longest window of one request. */
const stepMs = 86_400_000;

function toRead(state: ProjectState, purpose: Purpose, { nowMs, overlapMs, leap, activities }: PlanInput): PlannedRead {
  const { project, countedFromMs, againFromMs = Number.POSITIVE_INFINITY, backlog: [oldest] = [] } = state;
  // A clock that was set back has ends to tell that lie before what was read.
  const fromMs = Math.min(readThroughMs(state), nowMs);
  const isWide =
    (purpose === 'rotation' || purpose === 'search') &&
    oldest === undefined &&
    (activities.get(project)?.nextDayMs ?? Number.POSITIVE_INFINITY) <= nowMs;
  const isPastLeap = leap !== undefined && fromMs >= leap.endMs && fromMs - overlapMs < leap.endMs;
  const leaptMs = isPastLeap ? leap.endMs - leap.beginMs : 0;
  const overlapFromMs = fromMs - overlapMs - leaptMs;
  const againMs = oldest === undefined ? Math.min(againFromMs, overlapFromMs) : overlapFromMs;
  const sinceMs = Math.min(Math.max(againMs, countedFromMs), fromMs);
  const beginMs = Math.min(Math.max(isWide ? nowMs - stepMs : sinceMs, nowMs - stepMs, countedFromMs), nowMs);
  return { project, window: { beginMs, endMs: nowMs }, sinceMs, purpose };
}

/** A held project gives the same answer again and again: it is asked less and less often. */
function isResting(
  { hold, heldSinceMs = 0 }: ProjectState,
  readAtMs: number,
  { nowMs, maxDelayMs }: Pick<PlanInput, 'nowMs' | 'maxDelayMs'>,
): boolean {
  const waitMs = Math.min(readAtMs - heldSinceMs, maxRestMs, maxDelayMs);
  return hold !== undefined && nowMs - readAtMs < waitMs;
}

/** A project that is enabled again is noticed within this time. */
const maxRestMs = 300_000;

function isOutOfSight(
  { project, hold }: ProjectState,
  { activities, nowMs }: Pick<PlanInput, 'activities' | 'nowMs'>,
): boolean {
  const sinceMs = activities.get(project)?.unshownSinceMs ?? nowMs;
  return hold !== undefined || nowMs - sinceMs > unshownForMs;
}
