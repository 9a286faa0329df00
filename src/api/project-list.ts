import type { Clock } from '../domain/clock.ts';
import type { Api } from './client.ts';
import { type Project, projects, projectsWithModes } from './endpoints/projects.ts';

/** A list of projects and the time of its request. Another caller may reuse the list. */
type DatedList = { readonly projects: readonly Project[]; readonly askedTicks: number };

type ListOptions = { isWanted: (project: string) => boolean; clock: Clock };

/** Reads those projects of a server that the configuration includes. */
export function createProjectList({ isWanted, clock }: ListOptions) {
  const listeners: ((names: ReadonlySet<string>) => void)[] = [];
  let latest: { list: Promise<DatedList>; askedTicks: number } | undefined;
  let isUnderWay = false;
  let visible: number | undefined;
  let emptySinceMs: number | undefined;

  async function ask(api: Api, askedTicks: number): Promise<DatedList> {
    // One request shows for all projects whether executions are on (API reference, "Endpoints named only in the change log").
    const hasModes = await api.supports(projectsWithModes);
    const all = hasModes ? await api.get(projectsWithModes, { query: { meta: 'config' } }) : await api.get(projects);
    visible = all.length;
    emptySinceMs = visible === 0 ? (emptySinceMs ?? clock.now()) : undefined;
    const wanted = all.filter(({ name }) => isWanted(name));
    const names = new Set(wanted.map(({ name }) => name));
    for (const listener of listeners) listener(names);
    return { projects: wanted, askedTicks };
  }

  /** Returns the list and the time of its request. Reuses a list that was requested since the given time. */
  async function readDated(api: Api, sinceTicks = Number.NEGATIVE_INFINITY): Promise<DatedList> {
    // Only one request is sent at a time: a late response could bring back deleted projects.
    if (latest !== undefined && isUnderWay) {
      if (latest.askedTicks >= sinceTicks) return latest.list;
      await latest.list.catch(() => undefined);
      return readDated(api, sinceTicks);
    }
    const nowTicks = clock.ticks();
    if (latest !== undefined && latest.askedTicks >= sinceTicks && nowTicks - latest.askedTicks < sharedForMs) {
      return latest.list;
    }
    isUnderWay = true;
    const list = ask(api, nowTicks).finally(() => {
      isUnderWay = false;
    });
    latest = { list, askedTicks: nowTicks };
    // After an error, the next caller requests the list again.
    list.catch(() => {
      latest = undefined;
    });
    return list;
  }

  return {
    /** Returns the watched projects. Concurrent callers share one request. */
    read: async (api: Api) => (await readDated(api)).projects,
    readDated,
    /** Returns the number of projects in the last list, watched or not. */
    visible: () => visible,
    /** Returns since when the lists of the server have been empty; undefined if the last list was not. */
    emptySinceMs: () => emptySinceMs,
    onRead: (listener: (names: ReadonlySet<string>) => void) => {
      listeners.push(listener);
    },
  };
}

export type ProjectList = ReturnType<typeof createProjectList>;

/** How long callers share a list: concurrent polls share it, but the next poll of projects requests a new list. */
const sharedForMs = 15_000;
