import type { Api } from '../../api/client.ts';
import type { Window } from '../../api/paging.ts';
import type { Ledger } from '../../state/ledger.ts';
import type { LedgerCache } from '../ledger/ledger-cache.ts';
import type { ProjectActivity, ProjectState } from '../ledger/project-state.ts';
import { type Activities, toOffsetMs } from './activities.ts';
import type { Overlap } from './overlap.ts';
import type { ProjectReading } from './project-reading.ts';
import { createResidues, toHours } from './residues.ts';
import { readTotal } from './window-reader.ts';

type SecondLookOptions = {
  readonly activities: Activities;
  readonly reading: Pick<ProjectReading, 'readAgain'>;
  readonly overlap: Overlap;
  readonly server: string;
  readonly cache: LedgerCache;
  readonly ledger: Ledger;
  readonly everyMs: number;
  readonly requestsPerSecond: number;
};

/** Reads a window whole and takes in what is new in it. */
type ReadAgain = (window: Window) => Promise<void>;

type Pass = { readonly api: Api; readonly project: string; readonly nowMs: number; readonly readAgain: ReadAgain };

/** The open windows of a comparison, the newest last. */
type Work = {
  readonly isWeek: boolean;
  /** Windows with rows that are counted and not shown: they may have become readable, which no total shows. */
  readonly unshown: Window[];
  readonly open: Window[];
};

export type Recount = {
  /** A few passes over the past of those whose time has come, as long as it may go on; the rest of them next time. */
  readonly look: (api: () => Api, nowMs: number, mayGoOn?: () => boolean) => Promise<void>;
  /** Sentences for the page, where there are more passes than requests for them. */
  readonly complaints: () => readonly string[];
};

/** The slow and cheap passes that find what the rounds missed. */
export function createRecount(options: SecondLookOptions): Recount {
  const { server, cache, ledger, activities, reading, overlap } = options;
  const residues = createResidues();
  /** Comparisons that a round had no time to finish. */
  const unfinished = new Map<string, Work>();
  /** If a round lacks the time for all projects, they are looked at in rotation. */
  let lastLookedAt: string | undefined;
  let lateMs = 0;
  let lastLookMs = Number.NEGATIVE_INFINITY;
  let sinceMs = Number.NEGATIVE_INFINITY;

  function count(project: string, window: Window): Promise<number> {
    return ledger.countEnds(server, { projects: [project], ...window });
  }

  /** Compares one window with the server's count; returns the windows to compare in its place. */
  async function compareWindow({ api, project, readAgain }: Pass, window: Window): Promise<readonly Window[]> {
    const total = await readTotal(api, project, window);
    const difference = total - (await count(project, window));
    if (difference === residues.sum(project, window)) return [];
    const halves = halve(window);
    const hour = toHour(window.beginMs);
    if (total === 0) await noteDeleted(project, window);
    else if (halves !== undefined) return halves;
    else if (difference === 0) residues.set(project, hour, 0);
    else {
      await readAgain(window);
      residues.set(project, hour, (await readTotal(api, project, window)) - (await count(project, window)));
    }
    return [];
  }

  /** A deleted history leaves nothing to read. */
  async function noteDeleted(project: string, window: Window): Promise<void> {
    for (const hour of toHours(window)) {
      const beginMs = Math.max(hour * hourMs, window.beginMs);
      const endMs = Math.min((hour + 1) * hourMs - 1, window.endMs);
      residues.set(project, hour, -(await count(project, { beginMs, endMs })));
    }
  }

  /** Takes one step at least; what is compared by then is not compared again. */
  async function compare(pass: Pass, { isWeek, unshown, open }: Work, mayGoOn: () => boolean): Promise<void> {
    const { project, nowMs } = pass;
    do {
      const again = unshown.at(-1);
      const window = open.at(-1);
      if (again !== undefined) {
        await pass.readAgain(again);
        unshown.pop();
      } else if (window !== undefined) {
        const halves = await compareWindow(pass, window);
        open.pop();
        open.push(...halves);
      }
    } while (open.length > 0 && mayGoOn());
    if (open.length > 0) return;
    unfinished.delete(project);
    if (!isWeek) return;
    await cache.update(async () => {
      const latest = cache.states.get(project);
      return latest && { states: [{ ...latest, comparedWeekAtMs: nowMs }] };
    });
  }

  /** Reads the next hour that had rows and is a day old; returns whether there was one. */
  async function rereadNextHour(project: string, nowMs: number, readAgain: ReadAgain): Promise<boolean> {
    const state = cache.states.get(project);
    if (state === undefined) return false;
    const endMs = await ledger.firstEnd(server, project, Math.max(state.rereadThroughMs, state.countedFromMs));
    if (endMs === undefined) return false;
    const beginMs = Math.floor(endMs / hourMs) * hourMs;
    const throughMs = beginMs + hourMs;
    // Windows that wait for their first read are not compared yet.
    if (throughMs > Math.min(nowMs - dayMs, state.scannedThroughMs)) return false;
    await readAgain({ beginMs: Math.max(beginMs, state.countedFromMs), endMs: throughMs - 1 });
    await cache.update(async () => {
      const latest = cache.states.get(project);
      return latest && { states: [{ ...latest, rereadThroughMs: throughMs }] };
    });
    return true;
  }

  /** Returns the windows of a project to compare; undefined if none is due. */
  function toWork(state: ProjectState, nowMs: number): Work | undefined {
    const { project, scannedThroughMs, countedFromMs } = state;
    const isWeek = toWeekDueMs(state, nowMs) <= nowMs;
    const isDay = isDayDue(activities.all.get(project), nowMs);
    if (!isWeek && !isDay) return undefined;
    const endMs = toHourStart(Math.min(scannedThroughMs, nowMs) - overlap.ms(nowMs)) - 1;
    const beginMs = Math.max(toHourStart(nowMs - (isWeek ? 7 * dayMs : dayMs)), countedFromMs);
    const window = { beginMs, endMs };
    // The last day of an idle project is still read in the rotation: that reaches up to now.
    if (isDay) activities.note(project, { nextDayMs: nowMs + hourMs, isDayLong: false }, nowMs);
    if (beginMs >= endMs) return { isWeek, unshown: [], open: [] };
    return { isWeek, unshown: isWeek ? residues.windows(project, window) : [], open: [window] };
  }

  async function lookAt(pass: Pass, state: ProjectState, mayGoOn: () => boolean): Promise<boolean> {
    const { project, nowMs, readAgain } = pass;
    const work = unfinished.get(project) ?? toWork(state, nowMs);
    if (work === undefined) return rereadNextHour(project, nowMs, readAgain);
    unfinished.set(project, work);
    await compare(pass, work, mayGoOn);
    return true;
  }

  function noteLateness(states: readonly ProjectState[], nowMs: number): void {
    // Comparisons that became due while the server was not asked are not late yet.
    if (Math.abs(nowMs - lastLookMs) > pauseMs) sinceMs = nowMs;
    lastLookMs = nowMs;
    const dueMs = states.map((state) => Math.max(toDueMs(activities.all.get(state.project), state, nowMs), sinceMs));
    lateMs = Math.max(0, ...dueMs.map((due) => nowMs - due));
  }

  async function look(api: () => Api, nowMs: number, mayGoOn = (): boolean => true): Promise<void> {
    const states = inLine(cache.states, lastLookedAt).filter(
      ({ project, hold }) => hold === undefined && activities.all.has(project),
    );
    noteLateness(states, nowMs);
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
    look,
    complaints: () =>
      lateMs < lateAfterMs
        ? []
        : [`recounts are ${Math.floor(lateMs / hourMs)} h late: the request budget is too small`],
  };
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const lateAfterMs = 2 * hourMs;
const pauseMs = 600_000;

/** All of them, beginning after the last one. */
function inLine(states: ReadonlyMap<string, ProjectState>, last: string | undefined): ProjectState[] {
  const all = [...states.values()];
  const next = all.findIndex(({ project }) => project === last) + 1;
  return [...all.slice(next), ...all.slice(0, next)];
}

function toHour(timestampMs: number): number {
  return Math.floor(timestampMs / hourMs);
}

function toHourStart(timestampMs: number): number {
  return toHour(timestampMs) * hourMs;
}

/** Two halves that meet at a whole hour; undefined for what lies within one. */
function halve({ beginMs, endMs }: Window): [Window, Window] | undefined {
  const firstHour = Math.floor(beginMs / hourMs);
  const lastHour = Math.floor(endMs / hourMs);
  if (lastHour <= firstHour) return undefined;
  const middleMs = Math.ceil((firstHour + lastHour) / 2) * hourMs;
  return [
    { beginMs: middleMs, endMs },
    { beginMs, endMs: middleMs - 1 },
  ];
}

/** Reports whether the last day is to be compared now. That of an idle project is read in the rotation, where that can be done at once. */
function isDayDue(activity: ProjectActivity | undefined, nowMs: number): boolean {
  if (activity === undefined || activity.nextDayMs > nowMs) return false;
  return activity.activeUntilMs > nowMs || activity.isDayLong;
}

/** Reports whether it is read every round. */
function isActive(activity: ProjectActivity | undefined, nowMs: number): boolean {
  return activity !== undefined && activity.activeUntilMs > nowMs;
}

/** Returns the time at which the last week is to be compared: kept, so that a process that restarts often gets to it too. */
function toWeekDueMs({ project, countedFromMs, comparedWeekAtMs }: ProjectState, nowMs: number): number {
  if (comparedWeekAtMs === undefined) return countedFromMs + toOffsetMs(project);
  // A clock that was set back.
  return comparedWeekAtMs > nowMs ? nowMs : comparedWeekAtMs + dayMs;
}

/** Returns the time from which a project has been due for a pass. */
function toDueMs(activity: ProjectActivity | undefined, state: ProjectState, nowMs: number): number {
  const weekDueMs = state.comparedWeekAtMs === undefined ? nowMs : toWeekDueMs(state, nowMs);
  return activity !== undefined && isActive(activity, nowMs) ? Math.min(activity.nextDayMs, weekDueMs) : weekDueMs;
}

/** As many passes as it takes to get round in time and a bit more, within a quarter of the requests. */
function toMostLooks(
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
