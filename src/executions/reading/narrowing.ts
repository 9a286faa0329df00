import type { Api } from '../../api/client.ts';
import { executionsTotal } from '../../api/endpoints/executions.ts';
import { ApiError } from '../../api/errors.ts';
import type { Window } from '../../api/paging.ts';
import { refusals } from './activity-hint.ts';

/** A project and the ids of its jobs. The ids are undefined if they are unknown, or too many for a request. */
type Candidate = { readonly project: string; readonly jobIds: readonly string[] | undefined };

type NarrowingInput = {
  /** The projects in which an execution may have ended, most likely first. */
  readonly candidates: readonly Candidate[];
  readonly missing: number;
  readonly window: Window;
  readonly nowMs: number;
  readonly countKnown: (projects: readonly string[], window: Window) => Promise<number>;
  readonly mayGoOn: () => boolean;
};

/**
 * Narrows a search to few projects by requesting totals of small groups of jobs. Totals of jobs lack ad hoc runs and
 * unknown jobs, so the search continues if the projects show nothing new.
 */
export function createNarrowing() {
  let ignoredUntilMs = Number.NEGATIVE_INFINITY;

  function ignore(nowMs: number): void {
    ignoredUntilMs = nowMs + ignoredForMs;
  }

  return {
    /** Call if the returned projects were read and had no new execution. */
    noteVain: ignore,
    /** Returns the projects that may have the missing executions; none if the totals of jobs show no difference. */
    find: async (
      api: Api,
      { candidates, missing, window, nowMs, countKnown, mayGoOn }: NarrowingInput,
    ): Promise<readonly string[]> => {
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
        // No time is left to read the projects, because the requests of narrowing used it.
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

export type Narrowing = ReturnType<typeof createNarrowing>;

type Group = readonly { readonly project: string; readonly jobIds: readonly string[] }[];

type Asking = { readonly toMissing: (group: Group) => Promise<number>; readonly mayGoOn: () => boolean };

/** Requests totals of groups until all missing executions are located. */
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

/** Splits a group with missing executions in halves, until reading its projects costs no more than another total. */
async function halve(group: Group, missing: number, asking: Asking): Promise<readonly string[]> {
  if (missing <= 0) return [];
  if (group.length <= fewProjects || !asking.mayGoOn()) return group.map(({ project }) => project);
  const middle = Math.ceil(group.length / 2);
  const [first, second] = [group.slice(0, middle), group.slice(middle)];
  const ofFirst = await asking.toMissing(first);
  return [...(await halve(first, ofFirst, asking)), ...(await halve(second, missing - ofFirst, asking))];
}

/** Groups projects so that the job ids of a group fit into one URL. */
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

/** An id takes about 53 characters, and some servers accept only 8,000 characters for the URL and all headers. */
const maxIds = 75;
/** With more jobs, a total costs as much as reading the project. */
export const maxJobsOfProject = 20;
/** With fewer projects per group on average, narrowing saves no requests. */
const minProjects = 4;
const fewProjects = 3;
const ignoredForMs = 3_600_000;
