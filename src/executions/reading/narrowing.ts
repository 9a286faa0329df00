import type { Api } from '../../api/client.ts';
import { executionsTotal } from '../../api/endpoints/executions.ts';
import { ApiError } from '../../api/errors.ts';
import type { Window } from '../../api/paging.ts';
import { refusals } from './activity-hint.ts';

/** A project, and the ids of its jobs; undefined where they are not known, or too many to be asked about. */
export type Candidate = { readonly project: string; readonly jobIds: readonly string[] | undefined };

export type NarrowingInput = {
  /** The projects in which something may have ended, the likeliest ones first. */
  readonly candidates: readonly Candidate[];
  /** The number of ends that are searched. */
  readonly missing: number;
  readonly window: Window;
  readonly nowMs: number;
  /** Counts the known executions of projects that ended in the window. */
  readonly countKnown: (projects: readonly string[], window: Window) => Promise<number>;
  readonly mayGoOn: () => boolean;
};

export type Narrowing = {
  /** Returns the few projects in which something ended that is not known; none where totals of jobs do not show it. */
  readonly find: (api: Api, input: NarrowingInput) => Promise<readonly string[]>;
  /** The projects that were found have been read, and nothing was found in them. */
  readonly noteVain: (nowMs: number) => void;
};

/**
 * Narrows a search down by totals of a few jobs at a time, so that few projects have to be read. What it does not find is searched
 * as before: runs without a job, and jobs that are not known.
 */
export function createNarrowing(): Narrowing {
  let ignoredUntilMs = Number.NEGATIVE_INFINITY;

  function ignore(nowMs: number): void {
    ignoredUntilMs = nowMs + ignoredForMs;
  }

  return {
    noteVain: ignore,
    find: async (api, { candidates, missing, window, nowMs, countKnown, mayGoOn }) => {
      const groups = toGroups(candidates);
      if (nowMs < ignoredUntilMs || groups.length * minProjects > candidates.length) return [];
      const toMissing = async (group: Group): Promise<number> => {
        const jobIdListFilter = group.flatMap(({ jobIds }) => jobIds);
        const total = await api.get(executionsTotal, {
          query: { begin: window.beginMs, end: window.endMs, jobIdListFilter },
        });
        const projects = group.map(({ project }) => project);
        return (total ?? 0) - (await countKnown(projects, window));
      };
      try {
        const found = await narrow(groups, missing, { toMissing, mayGoOn });
        // It took the time of the search that follows.
        if (!mayGoOn()) ignore(nowMs);
        return found;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        ignore(nowMs);
        if (!refusals.includes(error.kind)) throw error;
        return [];
      }
    },
  };
}

type Group = readonly { readonly project: string; readonly jobIds: readonly string[] }[];

type Asking = { readonly toMissing: (group: Group) => Promise<number>; readonly mayGoOn: () => boolean };

/** Asks group by group until as much is found as is missing. */
async function narrow(groups: readonly Group[], missing: number, asking: Asking): Promise<readonly string[]> {
  const found: string[] = [];
  let left = missing;
  for (const group of groups) {
    if (left <= 0 || !asking.mayGoOn()) break;
    const ofGroup = await asking.toMissing(group);
    found.push(...(await halve(group, ofGroup, asking)));
    left -= Math.max(0, ofGroup);
  }
  return found;
}

/** Halves a group in which something is missing, until it costs as little to read its projects. */
async function halve(group: Group, missing: number, asking: Asking): Promise<readonly string[]> {
  if (missing <= 0) return [];
  if (group.length <= fewProjects || !asking.mayGoOn()) return group.map(({ project }) => project);
  const middle = Math.ceil(group.length / 2);
  const [first, second] = [group.slice(0, middle), group.slice(middle)];
  const ofFirst = await asking.toMissing(first);
  return [...(await halve(first, ofFirst, asking)), ...(await halve(second, missing - ofFirst, asking))];
}

/** Groups projects by as many jobs as the address of one request holds. */
function toGroups(candidates: readonly Candidate[]): readonly Group[] {
  const groups: { project: string; jobIds: readonly string[] }[][] = [];
  let ids = maxIds;
  for (const { project, jobIds } of candidates) {
    if (jobIds === undefined || jobIds.length === 0) continue;
    if (ids + jobIds.length > maxIds) {
      groups.push([]);
      ids = 0;
    }
    groups.at(-1)?.push({ project, jobIds });
    ids += jobIds.length;
  }
  return groups;
}

/** Each takes about 53 characters of an address, and some servers take 8,000 for an address and all headers. */
const maxIds = 75;
/** Projects with more jobs are not asked about: it would cost as much as to read them. */
export const maxJobsOfProject = 20;
/** The number of projects in a group, on average, from which on it saves requests to ask. */
const minProjects = 4;
const fewProjects = 3;
const ignoredForMs = 3_600_000;
