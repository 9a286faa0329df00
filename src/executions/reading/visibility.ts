import type { Api } from '../../api/client.ts';
import { runningExecutions } from '../../api/endpoints/executions.ts';
import { ApiError } from '../../api/errors.ts';
import type { Window } from '../../api/paging.ts';
import type { ProjectState } from '../ledger/project-state.ts';
import { findLongestDue } from './longest-due.ts';
import type { ProjectReading } from './project-reading.ts';
import type { Running } from './running-reader.ts';
import type { ReadResult } from './take-in.ts';
import { readNewest } from './window-reader.ts';

export type Sight = {
  /** `denied` if no project can be read, `unknown` until all projects have been read. */
  readonly running: 'known' | 'unknown' | 'denied';
  /** Projects whose running executions cannot be read, although running executions of other projects can. */
  readonly runningDenied: readonly string[];
  /** Projects with finished executions that are not shown. */
  readonly history: readonly HiddenHistory[];
};

/** A project with finished executions that the server counts but does not show. */
export type HiddenHistory = {
  readonly project: string;
  /** The number of counted executions; undefined if the project itself cannot be read. */
  readonly counted: number | undefined;
  readonly readable: number;
};

type Look = {
  readonly names: readonly string[];
  readonly states: ReadonlyMap<string, ProjectState>;
  readonly nowMs: number;
  readonly reading: Pick<ProjectReading, 'readAgain'>;
};

export type Visibility = ReturnType<typeof createVisibility>;

/**
 * Records reads that were denied, or showed fewer rows than the server counts. Each round sends one more request about one
 * project, for two reasons. Releases up to 3.4.4 omit denied projects from the list of all running executions without an error.
 * A short window does not show how much of a project is hidden.
 */
export function createVisibility(ticks: () => number) {
  const history = new Map<string, HiddenHistory>();
  /** When to check the last day of each partly hidden project. */
  const partlyDue = new Map<string, number>();
  const running = createRunningSight(ticks);

  function noteRead(project: string, { total, shown, isDenied, isUnshown }: ReadResult): void {
    if (isDenied) history.set(project, { project, counted: undefined, readable: 0 });
    else if (isUnshown) history.set(project, { project, counted: total, readable: 0 });
    else if (total > shown) partlyDue.set(project, partlyDue.get(project) ?? ticks());
    else if (!partlyDue.has(project)) history.delete(project);
    if (isDenied || isUnshown) partlyDue.delete(project);
  }

  async function lookAtDay(api: Api, project: string, window: Window, { reading, nowMs }: Look): Promise<void> {
    const { asked: counted, shown } = await readNewest(api, project, window);
    if (shown < counted) {
      history.set(project, { project, counted, readable: shown });
      partlyDue.set(project, ticks() + oftenMs);
      return;
    }
    const wasHidden = history.delete(project);
    partlyDue.delete(project);
    // Rounds have already read this window without its hidden rows, so the window is read again here.
    if (wasHidden) await reading.readAgain(api, project, window, nowMs);
  }

  async function look(api: () => Api, given: Look): Promise<void> {
    const windows = toDays(given);
    for (const project of [...running.due.keys(), ...partlyDue.keys()]) if (!windows.has(project)) forget(project);
    const listed = new Set(given.names);
    // The count of a project that is no longer listed is removed, so that its executions are not counted twice.
    for (const { project, counted } of history.values())
      if (counted !== undefined && !listed.has(project))
        history.set(project, { project, counted: undefined, readable: 0 });
    const partly = findLongestDue(windows, ticks(), ([project]) => partlyDue.get(project) ?? Number.POSITIVE_INFINITY);
    if (partly !== undefined) await lookAtDay(api(), ...partly, given);
    if (!running.isAskedByStar()) return;
    // Projects that hide finished executions come first, because they may hide running executions too.
    const unasked = findLongestDue(
      windows,
      ticks(),
      ([project]) => running.due.get(project) ?? (history.has(project) ? -2 : -1),
    );
    if (unasked !== undefined) running.noteOf(unasked[0], await isRunningReadable(api(), unasked[0]));
  }

  function forget(project: string): void {
    running.forget(project);
    partlyDue.delete(project);
  }

  return {
    noteRunning: running.note,
    noteRead,
    look,
    mayReadRunning: running.mayRead,
    all: (): Sight => ({
      ...running.sight(),
      history: [...history.values()].sort((one, other) => (one.project < other.project ? -1 : 1)),
    }),
  };
}

/** Records which running executions can be read, from requests for all projects (`*`) and for single projects. */
function createRunningSight(ticks: () => number) {
  const due = new Map<string, number>();
  let running: Sight['running'] = 'unknown';
  let denied = new Set<string>();
  let isAskedByStar = false;
  let isOneByOne = false;

  function noteOf(project: string, isReadable: boolean): void {
    if (isReadable) denied.delete(project);
    else denied.add(project);
    due.set(project, ticks() + (isReadable ? seldomMs : oftenMs));
  }

  function forget(project: string): void {
    due.delete(project);
    denied.delete(project);
  }

  return {
    due,
    note: (read: Running): void => {
      running = read.executions === undefined ? 'unknown' : 'known';
      isAskedByStar = running === 'known' && read.denied === undefined;
      if (read.denied === 'all') running = 'denied';
      else if (read.denied !== undefined) {
        denied = new Set(read.denied);
        isOneByOne = true;
      } else if (isAskedByStar && isOneByOne) {
        // A server that refused the request for all projects answers it once no project is denied.
        for (const project of denied) forget(project);
        isOneByOne = false;
      }
      for (const { project } of read.executions ?? []) if (project !== undefined) noteOf(project, true);
    },
    noteOf,
    forget,
    isAskedByStar: (): boolean => isAskedByStar,
    mayRead: (project: string): boolean => running !== 'denied' && !denied.has(project),
    sight: () => ({ running, runningDenied: [...denied].sort() }),
  };
}

/** Returns the last day of each readable project, from its start of counting at the earliest. */
function toDays({ names, states, nowMs }: Look): ReadonlyMap<string, Window> {
  const days = names.flatMap((project): [string, Window][] => {
    const state = states.get(project);
    if (state === undefined || state.hold !== undefined) return [];
    return [[project, { beginMs: Math.max(nowMs - dayMs, state.countedFromMs), endMs: nowMs }]];
  });
  return new Map(days);
}

/** Reports whether the running executions of a project can be read. A missing project counts as readable. */
async function isRunningReadable(api: Api, project: string): Promise<boolean> {
  try {
    await api.get(runningExecutions, { path: { project }, query: { max: 1 } });
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.details.isOfService !== true) throw error;
    if (error.kind !== 'forbidden' && error.kind !== 'not_found') throw error;
    return error.kind === 'not_found';
  }
}

const dayMs = 86_400_000;
/** A change of permissions must become visible the same day. */
const seldomMs = 6 * 3_600_000;
const oftenMs = 300_000;
