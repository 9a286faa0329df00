import type { ProjectActivity, ProjectState } from '../ledger/project-state.ts';
import { toOffsetMs } from '../reading/activities.ts';

/** Reports whether the last day is to be compared now. That of an idle project is read in the rotation, where that can be done at once. */
export function isDayDue(activity: ProjectActivity | undefined, nowMs: number): boolean {
  if (activity === undefined || activity.nextDayMs > nowMs) return false;
  return activity.activeUntilMs > nowMs || activity.isDayLong;
}

/** Reports whether it is read every round. */
export function isActive(activity: ProjectActivity | undefined, nowMs: number): boolean {
  return activity !== undefined && activity.activeUntilMs > nowMs;
}

/** Returns the time at which the last week is to be compared: kept, so that a process that restarts often gets to it too. */
export function toWeekDueMs({ project, countedFromMs, comparedWeekAtMs }: ProjectState, nowMs: number): number {
  if (comparedWeekAtMs === undefined) return countedFromMs + toOffsetMs(project);
  // A clock that was set back.
  return comparedWeekAtMs > nowMs ? nowMs : comparedWeekAtMs + dayMs;
}

/** Returns the time from which a project has been due for a pass. */
export function toDueMs(activity: ProjectActivity | undefined, state: ProjectState, nowMs: number): number {
  const weekDueMs = state.comparedWeekAtMs === undefined ? nowMs : toWeekDueMs(state, nowMs);
  return activity !== undefined && isActive(activity, nowMs) ? Math.min(activity.nextDayMs, weekDueMs) : weekDueMs;
}

/** As many passes as it takes to get round in time and a bit more, within a quarter of the requests. */
export function toMostLooks(
  { everyMs, requestsPerSecond }: { readonly everyMs: number; readonly requestsPerSecond: number },
  projects: number,
  active: number,
): number {
  const anHour = 3 * active + projects / 4;
  const affordable = Math.floor((requestsPerSecond * everyMs) / 4000);
  return Math.max(leastLooks, Math.min(affordable, Math.ceil((anHour * everyMs) / hourMs)));
}

/** Passes over the past that a round has room for in any case. */
const leastLooks = 3;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
