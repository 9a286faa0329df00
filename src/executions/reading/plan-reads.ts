import type { Window } from '../../api/paging.ts';
import { type ProjectActivity, type ProjectState, readThroughMs } from '../ledger/project-state.ts';

/** Why a project is read: activity, its turn, a missing execution, or the possible end of a hold. */
type Purpose = 'live' | 'rotation' | 'search' | 'probe';

export type PlannedRead = {
  readonly project: string;
  /** The window to request. The window ends now and is at most a day long. */
  readonly window: Window;
  /** The time after which executions must be read, now or as backlog. */
  readonly sinceMs: number;
  readonly purpose: Purpose;
};

export type PlanInput = {
  readonly states: ReadonlyMap<string, ProjectState>;
  readonly activities: ReadonlyMap<string, ProjectActivity>;
  readonly nowMs: number;
  readonly everyMs: number;
  readonly overlapMs: number;
  /** The span that the server clock skipped when it was last set ahead. Late executions may have dates before the span. */
  readonly leap?: Window | undefined;
  readonly maxDelayMs: number;
  /** The time before which the last read of an idle project is too old, so that the project is read as soon as possible. */
  readonly sweepBeforeMs: number | undefined;
  readonly sweepQuota: number;
  /** The maximum number of reads in a round for a search. */
  readonly searchQuota: number;
};

/** Plans the reads of a round: all active projects, and idle projects that are due. */
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
  // A project that is missing in the list must be read, to find out whether it was deleted.
  const isGone = (state: ProjectState): boolean => readAt(state) < (state.heldSinceMs ?? 0);
  const gone = idle.filter(isGone).slice(0, maxGone);
  idle.sort((one, other) => readAt(one) - readAt(other));
  // If rounds are slow, projects that have waited for the maximum delay are read now.
  const sweptBeforeMs = Math.max(sweepBeforeMs ?? Number.NEGATIVE_INFINITY, nowMs - maxDelayMs);
  const sweeping = idle.filter((state) => readAt(state) < sweptBeforeMs).length;
  const quota = Math.max(Math.ceil((idle.length * everyMs) / maxDelayMs), Math.min(sweeping, sweepQuota));
  const rotation = [...new Set([...gone, ...idle.slice(0, quota)])].map((state) =>
    toRead(state, isOutOfSight(state, input) ? 'probe' : 'rotation', input),
  );
  // Reads beyond the budget come first in the next round.
  return [...live.sort((one, other) => one.sinceMs - other.sinceMs), ...rotation];
}

/** Plans reads for a search, the most likely projects first. */
export function planSearch(input: PlanInput, sinceMs: number): PlannedRead[] {
  const { states, activities, nowMs, searchQuota } = input;
  return [...states.values()]
    .filter((state) => !isOutOfSight(state, input) && (activities.get(state.project)?.readAtMs ?? 0) < sinceMs)
    .map((state) => ({ state, waitMs: toWaitMs(activities.get(state.project), nowMs) }))
    .toSorted((one, other) => one.waitMs - other.waitMs)
    .slice(0, searchQuota)
    .map(({ state }) => toRead(state, 'search', input));
}

/** Returns the time since the next run of a project was expected. Without a known period, returns the time since the last run. */
function toWaitMs(activity: ProjectActivity | undefined, nowMs: number): number {
  const [last, before] = activity?.lastRunsMs ?? [];
  if (last === undefined) return Number.POSITIVE_INFINITY;
  const sinceMs = Math.max(0, nowMs - last);
  return before === undefined || last <= before ? sinceMs : sinceMs % (last - before);
}

/** Reports whether a project has a backlog that can be read. */
export function isCaughtUpWith(state: ProjectState, now: Pick<PlanInput, 'activities' | 'nowMs'>): boolean {
  return state.backlog !== undefined && !isOutOfSight(state, now);
}

/** A project that has shown no rows for long is read only when due. */
const unshownForMs = 600_000;

/** The maximum number of missing projects that a round reads before they are due. */
const maxGone = 5;

const stepMs = 86_400_000;

function toRead(state: ProjectState, purpose: Purpose, { nowMs, overlapMs, leap, activities }: PlanInput): PlannedRead {
  const { project, countedFromMs, againFromMs = Number.POSITIVE_INFINITY, backlog: [oldest] = [] } = state;
  // After the clock was set back, new executions have dates before the last read.
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

/** Reports whether a project on hold need not be read yet. The pause grows, because holds seldom end soon. */
function isResting(
  { hold, heldSinceMs = 0 }: ProjectState,
  readAtMs: number,
  { nowMs, maxDelayMs }: Pick<PlanInput, 'nowMs' | 'maxDelayMs'>,
): boolean {
  const waitMs = Math.min(readAtMs - heldSinceMs, maxRestMs, maxDelayMs);
  return hold !== undefined && nowMs - readAtMs < waitMs;
}

const maxRestMs = 300_000;

function isOutOfSight(
  { project, hold }: ProjectState,
  { activities, nowMs }: Pick<PlanInput, 'activities' | 'nowMs'>,
): boolean {
  const sinceMs = activities.get(project)?.unshownSinceMs ?? nowMs;
  return hold !== undefined || nowMs - sinceMs > unshownForMs;
}
