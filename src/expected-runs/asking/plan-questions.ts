import { toRefreshMs } from '../deciding/timetable.ts';
import { isOff, type WatchedJob } from '../deciding/watched-job.ts';

export type QuestionInput = {
  readonly nowMs: number;
  /** Jobs that the list of jobs showed as changed, and jobs with a miss that an answer has to confirm. */
  readonly changed: ReadonlySet<string>;
  readonly waiting: ReadonlySet<string>;
  /** Jobs that are not asked about for a while. */
  readonly isResting: (id: string) => boolean;
  /** Jobs whose last answer had no times, or was refused. */
  readonly isRefused: (id: string) => boolean;
  readonly isProjectOff: (project: string) => boolean;
};

/**
 * Chooses the jobs whose schedule is asked for now: those that are unknown, then what misses wait for, then those that are due,
 * and at last those that were refused: however many they are, they hold up no other.
 */
export function planQuestions(jobs: Iterable<WatchedJob>, input: QuestionInput): readonly WatchedJob[] {
  const { nowMs, changed, waiting, isResting, isRefused, isProjectOff } = input;
  const toRank = (job: WatchedJob): number | undefined => {
    if (job.goneAtMs !== undefined || isOff(job) || isResting(job.id) || isProjectOff(job.project)) return undefined;
    if (isRefused(job.id)) return 4;
    if (job.timetable === undefined) return 0;
    if (changed.has(job.id)) return 1;
    if (waiting.has(job.id)) return 2;
    return nowMs >= toRefreshMs(job.timetable) ? 3 : undefined;
  };
  const due: { readonly job: WatchedJob; readonly rank: number }[] = [];
  for (const job of jobs) {
    const rank = toRank(job);
    if (rank !== undefined) due.push({ job, rank });
  }
  // Of one rank the oldest answer comes first.
  const askedAt = ({ timetable }: WatchedJob): number => timetable?.askedAtMs ?? 0;
  due.sort((one, other) => one.rank - other.rank || askedAt(one.job) - askedAt(other.job));
  return spare(due.map(({ job }) => job));
}

/** A server that tells one time for an answer is asked about a few jobs only. */
function spare(jobs: readonly WatchedJob[]): readonly WatchedJob[] {
  let single = 0;
  const chosen = jobs.filter(({ timetable }) => timetable?.source !== 'next-run' || ++single <= mostSingle);
  return chosen.slice(0, mostAtOnce);
}

const mostAtOnce = 60;
const mostSingle = 10;

/** Chooses the projects whose jobs are listed now: those that never were, and of the others the next ones. */
export function planLists(projects: readonly string[], listedTicks: ReadonlyMap<string, number>): readonly string[] {
  const fresh = projects.filter((project) => !listedTicks.has(project)).slice(0, mostFresh);
  const ticksOf = (project: string): number => listedTicks.get(project) ?? 0;
  const known = projects
    .filter((project) => listedTicks.has(project))
    .sort((one, other) => ticksOf(one) - ticksOf(other))
    .slice(0, Math.min(mostLists, Math.ceil(projects.length / roundsForAll)));
  return [...fresh, ...known];
}

const mostFresh = 60;
const mostLists = 20;
/** A project is listed as often as this many runs of the collector. */
const roundsForAll = 5;
