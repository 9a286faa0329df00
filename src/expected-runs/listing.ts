import type { Api } from '../api/client.ts';
import { projectJobs } from '../api/endpoints/jobs.ts';
import type { Project } from '../api/endpoints/projects.ts';
import { ApiError, isOfWholeServer } from '../api/errors.ts';
import type { Clock } from '../domain/clock.ts';
import { toJobPath } from '../domain/job-path.ts';
import { maxListGapMs } from './deciding/watched-job.ts';
import type { ExecutionsPort } from './executions-port.ts';
import type { ExpectedJobs } from './expected-jobs.ts';
import type { ExpectedRunsSettings } from './settings.ts';
import type { SourceNotes } from './sources.ts';

export type Listing = {
  /**
   * Lists the jobs of the projects whose turn it is, and returns those that the lists show as changed; a project that cannot be
   * read waits for its next turn.
   */
  readonly read: (api: Api) => Promise<ReadonlySet<string>>;
};

export type ListingOptions = {
  readonly clock: Pick<Clock, 'ticks'>;
  readonly port: Pick<ExecutionsPort, 'beginJobList'>;
  readonly notes: Pick<SourceNotes, 'serverNowMs'>;
  readonly settings: Pick<ExpectedRunsSettings, 'isWantedProject' | 'isWantedJob'>;
  readonly jobs: Pick<ExpectedJobs, 'all' | 'list' | 'leaveOut'>;
  readonly readProjects: (api: Api) => Promise<readonly Project[]>;
};

/** Keeps up with which scheduled jobs there are. */
export function createListing(options: ListingOptions): Listing {
  const { clock, port, notes, settings, jobs } = options;
  const listedTicks = new Map<string, number>();
  let restsUntilTicks = Number.NEGATIVE_INFINITY;
  const findLost = createLostProjects(options);

  async function list(api: Api, project: string): Promise<ReadonlySet<string>> {
    const atMs = notes.serverNowMs();
    listedTicks.set(project, clock.ticks());
    const learn = port.beginJobList(project);
    const listed = await tolerate(() => api.get(projectJobs, { path: { project } }));
    const nowTicks = clock.ticks();
    const restMs = (nowTicks - (listedTicks.get(project) ?? 0)) * restsPerList;
    restsUntilTicks = Math.min(Math.max(restsUntilTicks, nowTicks) + restMs, nowTicks + maxRestMs);
    if (listed === undefined) return new Set();
    await learn?.(listed, atMs);
    const wanted = listed.filter(
      (job) => job.isScheduled === true && settings.isWantedJob(toJobPath({ ...job, project })),
    );
    return jobs.list(project, wanted, atMs);
  }

  return {
    read: async (api) => {
      const projects = (await options.readProjects(api)).map(({ name }) => name).filter(settings.isWantedProject);
      for (const project of listedTicks.keys()) if (!projects.includes(project)) listedTicks.delete(project);
      for (const [project, sinceMs] of findLost(new Set(projects))) await jobs.leaveOut(project, sinceMs);
      const changed = new Set<string>();
      for (const project of planLists(projects, listedTicks)) {
        // Projects that are new do not wait.
        if (clock.ticks() < restsUntilTicks && listedTicks.has(project)) continue;
        for (const id of await list(api, project)) changed.add(id);
      }
      return changed;
    },
  };
}

/** Chooses the projects whose jobs are listed now: those that never were, and of the others the next ones. */
function planLists(projects: readonly string[], listedTicks: ReadonlyMap<string, number>): readonly string[] {
  const fresh = projects.filter((project) => !listedTicks.has(project)).slice(0, maxFresh);
  const ticksOf = (project: string): number => listedTicks.get(project) ?? 0;
  const known = projects
    .filter((project) => listedTicks.has(project))
    .sort((one, other) => ticksOf(one) - ticksOf(other))
    .slice(0, Math.min(maxLists, Math.ceil(projects.length / roundsForAll)));
  return [...fresh, ...known];
}

const maxFresh = 60;
const maxLists = 20;
/** A project is listed as often as this many runs of the collector. */
const roundsForAll = 5;

/** A list of many jobs takes a server long: it rests for as long as keeps lists below half a hundredth of its time. */
const restsPerList = 200;
const maxRestMs = maxListGapMs / 2;

/**
 * Finds the projects whose jobs are gone with them, and since when. The server does not tell a project that was deleted from one
 * that may not be seen any longer: either has to be missing for as long as an unseen change may last. One that configuration
 * leaves out is gone at once.
 */
function createLostProjects({ clock, notes, settings, jobs }: ListingOptions) {
  const missing = new Map<string, { readonly ticks: number; readonly atMs: number }>();
  return (listed: ReadonlySet<string>): ReadonlyMap<string, number> => {
    for (const project of listed) missing.delete(project);
    const lost = new Map<string, number>();
    for (const { project, goneAtMs } of jobs.all.values()) {
      if (goneAtMs !== undefined || listed.has(project)) continue;
      const since = missing.get(project) ?? { ticks: clock.ticks(), atMs: notes.serverNowMs() };
      missing.set(project, since);
      const isLost = !settings.isWantedProject(project) || clock.ticks() - since.ticks > maxListGapMs;
      if (isLost) lost.set(project, since.atMs);
    }
    for (const project of lost.keys()) missing.delete(project);
    return lost;
  };
}

/** Leaves out what the server refuses about one project or job; a fault of the server itself is thrown. */
export async function tolerate<Value>(ask: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ApiError) || isOfWholeServer(error)) throw error;
    return undefined;
  }
}
