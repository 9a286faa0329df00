import type { Api } from '../../api/client.ts';
import type { Ledger } from '../../state/ledger.ts';
import type { LedgerCache } from '../ledger/ledger-cache.ts';
import type { ProjectActivity, ProjectState } from '../ledger/project-state.ts';
import { type Activities, toOffsetMs } from '../reading/activities.ts';
import type { Overlap } from '../reading/overlap.ts';
import type { ProjectReading } from '../reading/project-reading.ts';
import { type Comparison, compare, createResidues, type Pass, type ReadAgain } from './comparison.ts';

type RecountOptions = {
  readonly activities: Activities;
  readonly reading: Pick<ProjectReading, 'readAgain'>;
  readonly overlap: Overlap;
  readonly server: string;
  readonly cache: LedgerCache;
  readonly ledger: Ledger;
  readonly everyMs: number;
  readonly requestsPerSecond: number;
};

/** Finds executions that rounds missed. */
export function createRecount(options: RecountOptions) {
  const { cache, activities, reading, overlap } = options;
  const residues = createResidues();
  const lateness = createLateness(activities);
  const unfinished = new Map<string, Comparison>();
  /** The project after which the next round continues. */
  let lastLookedAt: string | undefined;

  /** Returns the windows of a project that must be compared; undefined if none is due. */
  function toComparison(state: ProjectState, nowMs: number): Comparison | undefined {
    const { project, scannedThroughMs, countedFromMs } = state;
    const isWeek = toWeekDueMs(state, nowMs) <= nowMs;
    const isDay = isDayDue(activities.all.get(project), nowMs);
    if (!isWeek && !isDay) return undefined;
    const endMs = toHourStart(Math.min(scannedThroughMs, nowMs) - overlap.ms(nowMs)) - 1;
    const beginMs = Math.max(toHourStart(nowMs - (isWeek ? 7 * dayMs : dayMs)), countedFromMs);
    const window = { beginMs, endMs };
    // The regular read of an idle project also covers its last day.
    if (isDay) activities.note(project, { nextDayMs: nowMs + hourMs, isDayLong: false }, nowMs);
    if (beginMs >= endMs) return { isWeek, unshown: [], open: [] };
    return { isWeek, unshown: isWeek ? residues.windows(project, window) : [], open: [window] };
  }

  /** Returns true if a request was sent. */
  async function lookAt(pass: Pass, state: ProjectState, mayGoOn: () => boolean): Promise<boolean> {
    const { project, nowMs } = pass;
    const comparison = unfinished.get(project) ?? toComparison(state, nowMs);
    if (comparison === undefined) return rereadNextHour(pass, options);
    unfinished.set(project, comparison);
    const { isDone } = await compare(pass, comparison, { ...options, residues, mayGoOn });
    if (!isDone) return true;
    unfinished.delete(project);
    if (comparison.isWeek) await noteState(cache, project, { comparedWeekAtMs: nowMs });
    return true;
  }

  async function look(api: () => Api, nowMs: number, mayGoOn = (): boolean => true): Promise<void> {
    const states = startAfter(lastLookedAt, cache.states).filter(
      ({ project, hold }) => hold === undefined && activities.all.has(project),
    );
    lateness.note(states, nowMs);
    residues.prune(nowMs - 8 * dayMs, (project) => cache.states.has(project));
    const active = states.filter(({ project }) => isActive(activities.all.get(project), nowMs)).length;
    const most = toMostLooks(options, states.length, active);
    let looks = 0;
    for (const state of states) {
      if (looks >= most || (looks > 0 && !mayGoOn())) return;
      const { project } = state;
      lastLookedAt = project;
      const readAgain: ReadAgain = async (window) => {
        const found = await reading.readAgain(api(), project, window, nowMs);
        if (found.some(({ endedAtMs }) => endedAtMs >= nowMs - dayMs)) overlap.noteMissed(nowMs);
      };
      if (await lookAt({ api: api(), project, nowMs, readAgain }, state, mayGoOn)) looks += 1;
    }
  }

  return {
    /** Runs due recounts while `mayGoOn` returns true; the next call continues with the rest. */
    look,
    /** Returns a sentence for the page if recounts are late because of the request budget. */
    complaints: lateness.complaints,
  };
}

/** Reads again the next hour that had rows and is a day old. Returns false if no hour is to be read. */
async function rereadNextHour({ project, nowMs, readAgain }: Pass, options: RecountOptions): Promise<boolean> {
  const { cache, ledger, server } = options;
  const state = cache.states.get(project);
  if (state === undefined) return false;
  const endMs = await ledger.firstEnd(server, project, Math.max(state.rereadThroughMs, state.countedFromMs));
  if (endMs === undefined) return false;
  const beginMs = toHourStart(endMs);
  const throughMs = beginMs + hourMs;
  // Hours that are less than a day old, or in the backlog, are read later.
  if (throughMs > Math.min(nowMs - dayMs, state.scannedThroughMs)) return false;
  await readAgain({ beginMs: Math.max(beginMs, state.countedFromMs), endMs: throughMs - 1 });
  await noteState(cache, project, { rereadThroughMs: throughMs });
  return true;
}

async function noteState(
  cache: LedgerCache,
  project: string,
  changed: Partial<Pick<ProjectState, 'comparedWeekAtMs' | 'rereadThroughMs'>>,
): Promise<void> {
  await cache.update(async () => {
    const latest = cache.states.get(project);
    return latest && { states: [{ ...latest, ...changed }] };
  });
}

function createLateness(activities: Activities) {
  let lateMs = 0;
  let lastLookMs = Number.NEGATIVE_INFINITY;
  let sinceMs = Number.NEGATIVE_INFINITY;
  return {
    note: (states: readonly ProjectState[], nowMs: number): void => {
      // After a time without recounts, for example an outage, delays count from now.
      if (Math.abs(nowMs - lastLookMs) > pauseMs) sinceMs = nowMs;
      lastLookMs = nowMs;
      const dueMs = states.map((state) => Math.max(toDueMs(activities.all.get(state.project), state, nowMs), sinceMs));
      lateMs = Math.max(0, ...dueMs.map((due) => nowMs - due));
    },
    complaints: (): readonly string[] =>
      lateMs < lateAfterMs
        ? []
        : [`recounts are ${Math.floor(lateMs / hourMs)} h late: the request budget is too small`],
  };
}

function startAfter(last: string | undefined, states: ReadonlyMap<string, ProjectState>): ProjectState[] {
  const all = [...states.values()];
  const next = all.findIndex(({ project }) => project === last) + 1;
  return [...all.slice(next), ...all.slice(0, next)];
}

function toHourStart(timestampMs: number): number {
  return Math.floor(timestampMs / hourMs) * hourMs;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const lateAfterMs = 2 * hourMs;
const pauseMs = 600_000;

/** Reports whether to compare the last day now. The regular read of an idle project covers a short last day. */
function isDayDue(activity: ProjectActivity | undefined, nowMs: number): boolean {
  if (activity === undefined || activity.nextDayMs > nowMs) return false;
  return isActive(activity, nowMs) || activity.isDayLong;
}

function isActive(activity: ProjectActivity | undefined, nowMs: number): boolean {
  return activity !== undefined && activity.activeUntilMs > nowMs;
}

/** Returns the time of the next comparison of the last week. */
function toWeekDueMs({ project, countedFromMs, comparedWeekAtMs }: ProjectState, nowMs: number): number {
  if (comparedWeekAtMs === undefined) return countedFromMs + toOffsetMs(project);
  // If the last comparison is in the future, the clock was set back.
  return comparedWeekAtMs > nowMs ? nowMs : comparedWeekAtMs + dayMs;
}

function toDueMs(activity: ProjectActivity | undefined, state: ProjectState, nowMs: number): number {
  const weekDueMs = state.comparedWeekAtMs === undefined ? nowMs : toWeekDueMs(state, nowMs);
  return activity !== undefined && isActive(activity, nowMs) ? Math.min(activity.nextDayMs, weekDueMs) : weekDueMs;
}

/** Returns the maximum number of recounts in a round: enough for every project in time, but at most a quarter of the requests. */
function toMostLooks(
  { everyMs, requestsPerSecond }: { everyMs: number; requestsPerSecond: number },
  projects: number,
  active: number,
): number {
  const anHour = 3 * active + projects / 4;
  const affordable = Math.floor((requestsPerSecond * everyMs) / 4000);
  return Math.max(minLooks, Math.min(affordable, Math.ceil((anHour * everyMs) / hourMs)));
}

const minLooks = 3;
