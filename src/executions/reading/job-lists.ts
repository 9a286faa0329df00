import type { Api } from '../../api/client.ts';
import { type Job, projectJobs } from '../../api/endpoints/jobs.ts';
import { ApiError } from '../../api/errors.ts';
import type { JobFacts } from '../../domain/job.ts';
import { toJobPath } from '../counting/naming.ts';
import { toJobKey } from '../counting/totals.ts';
import type { LedgerCache } from '../ledger/ledger-cache.ts';
import type { ExecutionSettings } from '../settings.ts';
import { findLongestDue } from './longest-due.ts';
import { maxJobsOfProject } from './narrowing.ts';

type JobListsOptions = {
  readonly cache: LedgerCache;
  readonly settings: Pick<ExecutionSettings, 'isWantedProject' | 'isWantedJob'>;
  readonly ticks: () => number;
  /** The configured maximum of requests per second to the server. */
  readonly requestsPerSecond?: number;
};

export type LearnJobs = (list: readonly Pick<Job, 'id' | 'group' | 'name'>[], nowMs: number) => Promise<void>;

export function createJobLists({ cache, settings, ticks, requestsPerSecond = 10 }: JobListsOptions) {
  const { totals } = cache;
  const due = createDue(cache, ticks);
  const ids = createKnownIds();
  let forgetTicks = Number.NEGATIVE_INFINITY;
  let lookedTicks = ticks();

  function begin(project: string): LearnJobs {
    const asked = new Map([...totals.jobs].filter(([, job]) => job.project === project));
    return async (list, nowMs) => {
      // The list may omit a job that is hidden from the token.
      if (cache.states.get(project)?.hold !== undefined) return;
      due.note(project);
      ids.note(project, list);
      await noteListed(cache, new Set(list.map(({ group, name }) => toJobKey(project, group, name))), asked, nowMs);
    };
  }

  /** Returns false if the list cannot be read. Counting continues, but the round requests no other list. */
  async function lookAt(project: string, api: () => Api, nowMs: number): Promise<boolean> {
    due.note(project);
    try {
      const learn = begin(project);
      await learn(await api().get(projectJobs, { path: { project } }), nowMs);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return false;
    }
  }

  function isThere({ project, group, name, goneSinceMs }: JobFacts): boolean {
    if (goneSinceMs !== undefined) return false;
    return settings.isWantedProject(project) && settings.isWantedJob(toJobPath(project, { group, name }));
  }

  function countWanting(): number {
    const { slots } = totals;
    return Math.max(0, slots.refused().jobs - Math.max(0, slots.room().jobs - slots.taken().jobs));
  }

  return {
    /** Call before a poll reads the jobs of a project. The returned function takes the list. */
    begin,
    /** Returns the ids of the jobs of a project; undefined if the list was not read, or is long. */
    idsOf: ids.of,
    /**
     * Reads the next job lists, so that facts of deleted jobs are no longer published. Each list is read every ten
     * minutes, or less often to save requests.
     */
    look: async (api: () => Api, nowMs: number, mayGoOn: () => boolean = () => true): Promise<void> => {
      const elapsedMs = ticks() - lookedTicks;
      lookedTicks = ticks();
      const most = Math.max(1, Math.floor((elapsedMs / 1000) * requestsPerSecond * partOfRequests));
      for (let asked = 0; asked < most && mayGoOn(); asked += 1) {
        const project = due.find();
        if (project === undefined || !(await lookAt(project, api, nowMs))) return;
      }
    },
    /** Removes jobs thirty days after their last run: deleted and excluded jobs, and other jobs only if slots are missing. */
    forgetMissing: async (nowMs: number): Promise<void> => {
      if (ticks() < forgetTicks) return;
      forgetTicks = ticks() + everyMs;
      ids.keep(cache.states);
      const idle = [...totals.jobs].filter(([, { lastEndMs }]) => nowMs - lastEndMs > keptForMs);
      const gone = idle.filter(([, job]) => !isThere(job));
      const others = idle
        .filter(([, job]) => isThere(job))
        .sort(byEnd)
        .slice(0, countWanting());
      const keys = [...gone, ...others].map(([key]) => key).slice(0, maxAtOnce);
      if (keys.length > 0) await cache.update(async () => ({ forgetJobs: keys }));
    },
  };
}

/** Marks jobs that are missing in the list as deleted, and unmarks jobs that are listed again. */
async function noteListed(
  cache: LedgerCache,
  listed: ReadonlySet<string>,
  asked: ReadonlyMap<string, JobFacts>,
  nowMs: number,
): Promise<void> {
  await cache.update(async () => {
    const changed: JobFacts[] = [];
    for (const [key, job] of asked) {
      // A job exists if one of its runs was counted after the request.
      if (cache.totals.jobs.get(key) !== job) continue;
      const { goneSinceMs, ...rest } = job;
      const isListed = listed.has(key);
      if (!isListed && goneSinceMs === undefined) changed.push({ ...rest, goneSinceMs: nowMs });
      if (isListed && goneSinceMs !== undefined) changed.push(rest);
    }
    return changed.length === 0 ? undefined : { jobs: changed };
  });
}

/** Stores the ids of jobs, only for projects with few jobs. */
function createKnownIds() {
  const known = new Map<string, readonly string[]>();
  return {
    of: (project: string): readonly string[] | undefined => known.get(project),
    note: (project: string, list: readonly Pick<Job, 'id'>[]): void => {
      if (list.length > maxJobsOfProject) known.delete(project);
      else
        known.set(
          project,
          list.map(({ id }) => id),
        );
    },
    keep: (projects: { has: (project: string) => boolean }): void => {
      for (const project of known.keys()) if (!projects.has(project)) known.delete(project);
    },
  };
}

function createDue({ totals, states }: LedgerCache, ticks: () => number) {
  const dueTicks = new Map<string, number>();
  return {
    note: (project: string): void => {
      dueTicks.set(project, ticks() + everyMs);
    },
    /** Returns the project whose list has been due longest; new projects come first. */
    find: (): string | undefined => {
      const projects = new Set([...totals.jobs.values()].map(({ project }) => project));
      for (const project of projects) if (states.get(project)?.hold !== undefined) projects.delete(project);
      for (const project of dueTicks.keys()) if (!projects.has(project)) dueTicks.delete(project);
      return findLongestDue(projects, ticks(), (project) => dueTicks.get(project) ?? Number.NEGATIVE_INFINITY);
    },
  };
}

function byEnd([, one]: readonly [string, JobFacts], [, other]: readonly [string, JobFacts]): number {
  return one.lastEndMs - other.lastEndMs;
}

const everyMs = 600_000;
const partOfRequests = 0.05;
const keptForMs = 30 * 86_400_000;
const maxAtOnce = 500;
