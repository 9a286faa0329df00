import type { Api } from '../api/client.ts';
import type { Window } from '../api/paging.ts';
import type { Ledger } from '../state/ledger.ts';
import type { Activities } from './activities.ts';
import type { Book } from './book.ts';
import type { Overlap } from './overlap.ts';
import type { ProjectReading } from './project-reading.ts';
import type { ProjectState } from './project-state.ts';
import { readTotal } from './reader.ts';

type SecondLookOptions = {
  readonly activities: Activities;
  readonly reading: Pick<ProjectReading, 'readAgain'>;
  readonly overlap: Overlap;
  readonly server: string;
  readonly book: Book;
  readonly ledger: Ledger;
};

/** Reads a window whole and takes in what is new in it. */
type ReadAgain = (window: Window) => Promise<void>;

type Comparison = { readonly readAgain: ReadAgain; readonly mayGoOn: () => boolean };

export type SecondLook = {
  /** A few passes over the past of those whose time has come, as long as it may go on; the rest of them next time. */
  readonly look: (api: () => Api, nowMs: number, mayGoOn?: () => boolean) => Promise<void>;
};

/** The slow and cheap passes that find what the rounds missed. */
export function createSecondLook(options: SecondLookOptions): SecondLook {
  const { server, book, ledger, activities, reading, overlap } = options;
  /** Rows that the server counts and never shows, by project and hour: known differences are no news. */
  const residues = new Map<string, number>();

  /** Comparisons that a round had no time to finish: what is still to be compared. */
  const unfinished = new Map<string, Window[]>();

  /** Where there is more to do than a round has room for, all get their turn. */
  let lastLookedAt: string | undefined;

  async function differs(api: Api, project: string, window: Window): Promise<boolean> {
    const total = await readTotal(api, project, window);
    let residue = 0;
    for (const hour of toHours(window)) residue += residues.get(toKey(project, hour)) ?? 0;
    return total - (await count(project, window)) !== residue;
  }

  function count(project: string, window: Window): Promise<number> {
    return ledger.countEnds(server, { projects: [project], ...window });
  }

  async function compareHour(api: Api, project: string, window: Window, readAgain: ReadAgain): Promise<void> {
    await readAgain(window);
    const rest = (await readTotal(api, project, window)) - (await count(project, window));
    if (residues.size >= mostResidues) residues.clear();
    const [hour = 0] = toHours(window);
    residues.set(toKey(project, hour), rest);
  }

  /** Takes one step at least; what is compared by then is not compared again. */
  async function compare(api: Api, project: string, open: Window[], how: Comparison): Promise<void> {
    for (let current = open.at(-1); current !== undefined; current = open.at(-1)) {
      const isDifferent = await differs(api, project, current);
      const halves = isDifferent ? halve(current) : [];
      if (halves === undefined) await compareHour(api, project, current, how.readAgain);
      open.pop();
      open.push(...(halves ?? []));
      if (!how.mayGoOn()) break;
    }
    if (open.length === 0) unfinished.delete(project);
  }

  /** Reads the next hour that had rows and is a day old; tells whether there was one. */
  async function rereadNextHour(project: string, nowMs: number, readAgain: ReadAgain): Promise<boolean> {
    const state = book.states.get(project);
    if (state === undefined) return false;
    const endMs = await ledger.firstEnd(server, project, Math.max(state.rereadThroughMs, state.countedFromMs));
    if (endMs === undefined) return false;
    const beginMs = Math.floor(endMs / hourMs) * hourMs;
    const throughMs = beginMs + hourMs;
    // What is still to be read for the first time is not read a second time yet.
    if (throughMs > Math.min(nowMs - dayMs, state.scannedThroughMs)) return false;
    await readAgain({ beginMs: Math.max(beginMs, state.countedFromMs), endMs: throughMs - 1 });
    await book.update(async () => {
      const latest = book.states.get(project);
      return latest && { states: [{ ...latest, rereadThroughMs: throughMs }] };
    });
    return true;
  }

  /** What is to be compared of a project, the newest last; undefined where its time has not come. */
  function toOpen({ project, scannedThroughMs, countedFromMs }: ProjectState, nowMs: number): Window[] | undefined {
    const activity = activities.all.get(project);
    if (activity === undefined) return undefined;
    const isWeek = activity.nextWeekMs <= nowMs;
    // The past of an idle project is read with its turn, where that can be done at once.
    const isOwnTurn = activity.activeUntilMs > nowMs || activity.isDayLong;
    if (!isWeek && !(activity.nextDayMs <= nowMs && isOwnTurn)) return undefined;
    const endMs = toHourStart(Math.min(scannedThroughMs, nowMs) - overlap.ms(nowMs)) - 1;
    const beginMs = Math.max(toHourStart(nowMs - (isWeek ? 7 * dayMs : dayMs)), countedFromMs);
    const nextWeek = isWeek ? { nextWeekMs: nowMs + dayMs } : {};
    activities.note(project, { nextDayMs: nowMs + hourMs, isDayLong: false, ...nextWeek }, nowMs);
    return beginMs < endMs ? [{ beginMs, endMs }] : [];
  }

  async function look(api: () => Api, nowMs: number, mayGoOn = (): boolean => true): Promise<void> {
    let looks = 0;
    for (const state of inLine(book.states, lastLookedAt)) {
      if (looks >= mostLooks || (looks > 0 && !mayGoOn())) return;
      const { project, hold } = state;
      lastLookedAt = project;
      if (hold !== undefined || !activities.all.has(project)) continue;
      const readAgain: ReadAgain = (window) => reading.readAgain(api(), project, window, nowMs);
      const open = unfinished.get(project) ?? toOpen(state, nowMs);
      if (open !== undefined) {
        looks += 1;
        unfinished.set(project, open);
        await compare(api(), project, open, { readAgain, mayGoOn });
      } else if (await rereadNextHour(project, nowMs, readAgain)) {
        looks += 1;
      }
    }
  }

  return { look };
}

/** Passes over the past in one round. */
const mostLooks = 3;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const mostResidues = 50_000;

/** All of them, beginning after the last one. */
function inLine(states: ReadonlyMap<string, ProjectState>, last: string | undefined): ProjectState[] {
  const all = [...states.values()];
  const next = all.findIndex(({ project }) => project === last) + 1;
  return [...all.slice(next), ...all.slice(0, next)];
}

function toHourStart(timestampMs: number): number {
  return Math.floor(timestampMs / hourMs) * hourMs;
}

function toKey(project: string, hour: number): string {
  return JSON.stringify([project, hour]);
}

function toHours({ beginMs, endMs }: Window): number[] {
  const first = Math.floor(beginMs / hourMs);
  return Array.from({ length: Math.floor(endMs / hourMs) - first + 1 }, (_, index) => first + index);
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
