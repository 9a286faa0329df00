import type { Api } from '../api/client.ts';
import { projectJobs } from '../api/endpoints/jobs.ts';
import type { Project } from '../api/endpoints/projects.ts';
import { ApiError, isOfWholeServer } from '../api/errors.ts';
import type { Clock } from '../domain/clock.ts';
import { toJobPath } from '../domain/job.ts';
import { maxListGapMs, type WatchedJob } from './deciding/watched-job.ts';
import type { ExecutionsPort } from './executions-port.ts';
import type { ExpectedJobs } from './expected-jobs.ts';
import type { ExpectedRunsSettings } from './settings.ts';
import type { ReceivedList, SourceNotes } from './sources.ts';

type ListingOptions = {
  readonly clock: Pick<Clock, 'ticks'>;
  readonly port: Pick<ExecutionsPort, 'beginJobList'>;
  readonly notes: Pick<SourceNotes, 'serverNowMs' | 'takeJobLists'>;
  readonly settings: Pick<ExpectedRunsSettings, 'isWantedProject' | 'isWantedJob'>;
  readonly jobs: Pick<ExpectedJobs, 'all' | 'list' | 'leaveOut'>;
  readonly readProjects: (api: Api) => Promise<readonly Project[]>;
};

export function createListing(options: ListingOptions) {
  const { clock, port, notes, settings, jobs } = options;
  const tries = new Map<string, Try>();
  let restsUntilTicks = Number.NEGATIVE_INFINITY;
  const findLost = createLostProjects(options);
  // The lists of other polls are stored from now on.
  notes.takeJobLists();

  /** The response goes to the listener, like the responses of other polls. */
  async function request(api: Api, project: string): Promise<void> {
    const atMs = notes.serverNowMs();
    const beganTicks = clock.ticks();
    tries.set(project, { ticks: beganTicks, atMs });
    const learn = port.beginJobList(project);
    const listed = await tolerate(() => api.get(projectJobs, { path: { project } }));
    const nowTicks = clock.ticks();
    const restMs = (nowTicks - beganTicks) * restsPerList;
    restsUntilTicks = Math.min(Math.max(restsUntilTicks, nowTicks) + restMs, nowTicks + maxRestMs);
    if (listed !== undefined) await learn?.(listed, atMs);
  }

  async function take(project: string, { listed, atMs }: ReceivedList, changed: Set<string>): Promise<void> {
    tries.set(project, { ticks: clock.ticks(), atMs });
    const wanted = listed.filter(
      (job) => job.isScheduled === true && settings.isWantedJob(toJobPath({ ...job, project })),
    );
    await jobs.list({ project, listed: wanted, atMs }, changed);
  }

  return {
    /**
     * Lists the jobs of the next projects and takes the lists that other polls have read. Adds the ids of changed jobs to
     * `changed`. A project that cannot be read waits for its next turn.
     */
    read: async (api: Api, changed: Set<string>) => {
      const projects = (await options.readProjects(api)).map(({ name }) => name).filter(settings.isWantedProject);
      for (const project of tries.keys()) if (!projects.includes(project)) tries.delete(project);
      const isDeleted = (project: string) => askDeleted(api, project);
      for (const [project, sinceMs] of await findLost(new Set(projects), isDeleted))
        await jobs.leaveOut(project, sinceMs);
      const doubted = findDoubted(jobs.all.values(), tries);
      for (const project of planLists(projects, tries, doubted)) {
        // New projects, and projects with a job that may be deleted, are listed without a pause.
        const isUrgent = doubted.has(project) || !tries.has(project);
        if (isUrgent || clock.ticks() >= restsUntilTicks) await request(api, project);
      }
      for (const [project, list] of notes.takeJobLists())
        if (projects.includes(project)) await take(project, list, changed);
    },
  };
}

/** The last request for the list of a project, successful or not. */
type Try = { readonly ticks: number; readonly atMs: number };
type Tries = ReadonlyMap<string, Try>;

/** Returns the projects of jobs whose schedules cannot be read; such jobs may be deleted. */
function findDoubted(jobs: Iterable<WatchedJob>, tries: Tries): ReadonlySet<string> {
  const doubted = new Set<string>();
  for (const { project, goneAtMs, unread } of jobs)
    if (goneAtMs === undefined && unread !== undefined && unread.atMs >= (tries.get(project)?.atMs ?? 0))
      doubted.add(project);
  return doubted;
}

/** Chooses the projects to list: new projects, projects with doubtful jobs, and the next projects in turn. */
function planLists(projects: readonly string[], tries: Tries, doubted: ReadonlySet<string>): readonly string[] {
  const fresh = projects.filter((project) => !tries.has(project)).slice(0, maxFresh);
  const toOrder = (project: string): number => (doubted.has(project) ? -Infinity : (tries.get(project)?.ticks ?? 0));
  const known = projects
    .filter((project) => tries.has(project))
    .sort((one, other) => toOrder(one) - toOrder(other))
    .slice(0, Math.min(maxLists, Math.ceil(projects.length / roundsForAll)));
  return [...fresh, ...known];
}

const maxFresh = 60;
const maxLists = 20;
/** The number of runs of the collector in which each project is listed once. */
const roundsForAll = 5;

/** The pause after a list, in multiples of its duration: lists may use 0.5 % of the server's time. */
const restsPerList = 200;
const maxRestMs = maxListGapMs / 2;

/**
 * Finds projects that are gone, and since when. Excluded projects and projects unknown to the server are gone immediately.
 * Other missing projects count as gone after a while, because missing projects may be hidden for a moment.
 */
function createLostProjects({ clock, notes, settings, jobs }: ListingOptions) {
  const missing = new Map<string, { readonly ticks: number; readonly atMs: number }>();
  return async (listed: ReadonlySet<string>, isDeleted: IsDeleted): Promise<ReadonlyMap<string, number>> => {
    const fresh = new Set<string>();
    for (const project of listed) missing.delete(project);
    const lost = new Map<string, number>();
    for (const { project, goneAtMs } of jobs.all.values()) {
      if (goneAtMs !== undefined || listed.has(project)) continue;
      if (!missing.has(project)) fresh.add(project);
      const since = missing.get(project) ?? { ticks: clock.ticks(), atMs: notes.serverNowMs() };
      missing.set(project, since);
      const isLost = !settings.isWantedProject(project) || clock.ticks() - since.ticks > maxListGapMs;
      if (isLost) lost.set(project, since.atMs);
    }
    for (const project of [...fresh].slice(0, maxFresh))
      if (!lost.has(project) && (await isDeleted(project))) lost.set(project, missing.get(project)?.atMs ?? 0);
    for (const project of lost.keys()) missing.delete(project);
    return lost;
  };
}

type IsDeleted = (project: string) => Promise<boolean>;

async function askDeleted(api: Api, project: string): Promise<boolean> {
  try {
    await api.get(projectJobs, { path: { project } });
  } catch (error) {
    return error instanceof ApiError && error.kind === 'not_found' && error.details.isOfService === true;
  }
  return false;
}

/** Runs a request. Ignores an error of a single project or job, and rethrows an error of the whole server. */
export async function tolerate<Value>(ask: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ApiError) || isOfWholeServer(error)) throw error;
    return undefined;
  }
}
