import type { Api } from '../../api/client.ts';
import { executionsTotal } from '../../api/endpoints/executions.ts';
import { ApiError } from '../../api/errors.ts';
import type { Window } from '../../api/paging.ts';
import { refusals } from './activity-hint.ts';

/** A project and the ids of its jobs; undefined if they are unknown, or too many to ask about. */
type Candidate = { readonly project: string; readonly jobIds: readonly string[] | undefined };

type NarrowingInput = {
  /** The projects in which an execution may have ended, the likeliest first. */
  readonly candidates: readonly Candidate[];
  readonly missing: number;
  readonly window: Window;
  readonly nowMs: number;
  readonly countKnown: (projects: readonly string[], window: Window) => Promise<number>;
  readonly mayGoOn: () => boolean;
};

/**
 * Narrows a search with requests for totals of a few jobs, so that few projects must be read. Runs without a job and runs of
 * unknown jobs are not covered: the search must still find them.
 */
export function createNarrowing() {
  let ignoredUntilMs = Number.NEGATIVE_INFINITY;

  function ignore(nowMs: number): void {
    ignoredUntilMs = nowMs + ignoredForMs;
  }

  return {
    /** Call if the returned projects were read without a new execution. */
    noteVain: ignore,
    /** Returns the few projects that may have the missing executions; none if the totals of jobs do not show it. */
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
        // Narrowing used up the time in which projects could have been read.
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

/** Requests totals group by group until the missing executions are located. */
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

/** Halves a group with missing executions, until reading the projects of a half costs no more than one request. */
async function halve(group: Group, missing: number, asking: Asking): Promise<readonly string[]> {
  if (missing <= 0) return [];
  if (group.length <= fewProjects || !asking.mayGoOn()) return group.map(({ project }) => project);
  const middle = Math.ceil(group.length / 2);
  const [first, second] = [group.slice(0, middle), group.slice(middle)];
  const ofFirst = await asking.toMissing(first);
  return [...(await halve(first, ofFirst, asking)), ...(await halve(second, missing - ofFirst, asking))];
}

/** Groups projects; the job ids of a group fit into the address of one request. */
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

/** An id takes about 53 characters, and some servers accept only 8,000 for the address and all headers. */
const maxIds = 75;
/** For a project with more jobs, a request for totals costs as much as reading the project. */
export const maxJobsOfProject = 20;
/** With fewer projects per group on average, no requests are saved. */
const minProjects = 4;
const fewProjects = 3;
const ignoredForMs = 3_600_000;
