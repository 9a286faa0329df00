import { toRefreshMs } from '../deciding/timetable.ts';
import { isOff, mostSpanMs, restsUntilMs, type WatchedJob } from '../deciding/watched-job.ts';
import { isUnlisted } from './plan-question.ts';

export type QuestionInput = {
  readonly nowMs: number;
  /** Jobs that the list of jobs showed as changed, and jobs with a miss that an answer has to confirm. */
  readonly changed: ReadonlySet<string>;
  readonly waiting: ReadonlySet<string>;
  readonly isProjectOff: (project: string) => boolean;
};

/**
 * Chooses the jobs whose schedule is asked for now: first those that were changed, then those that are unknown, then those that a
 * miss waits for or whose known times end soon, then those that are due, and at last those that were refused: however many they are, they hold up no other.
 */
export function planQuestions(jobs: Iterable<WatchedJob>, input: QuestionInput): readonly WatchedJob[] {
  const { nowMs, changed, waiting, isProjectOff } = input;
  const toRank = (job: WatchedJob): number | undefined => {
    const { id, timetable, unread } = job;
    if (job.goneAtMs !== undefined || isOff(job) || isProjectOff(job.project)) return undefined;
    if (unread !== undefined && !changed.has(id))
      return nowMs >= restsUntilMs(unread) || nowMs < unread.atMs ? 4 : undefined;
    if (changed.has(id)) return 0;
    if (timetable === undefined) return 1;
    const isDue = nowMs >= toRefreshMs(timetable) || isUnlisted(timetable, nowMs, mostSpanMs(job, nowMs));
    if (!isDue && !waiting.has(id)) return undefined;
    return isUrgentQuestion(job, input) ? 2 : 3;
  };
  const due: { readonly job: WatchedJob; readonly rank: number }[] = [];
  for (const job of jobs) {
    const rank = toRank(job);
    if (rank !== undefined) due.push({ job, rank });
  }
  // Of one rank those come first whose known times end first.
  const untilOf = ({ timetable }: WatchedJob): number => timetable?.untilMs ?? 0;
  due.sort((one, other) => one.rank - other.rank || untilOf(one.job) - untilOf(other.job));
  return spare(due.map(({ job }) => job));
}

/** Reports whether a miss may wait for the answer, or the times that are known of a schedule end soon. */
export function isUrgentQuestion(
  { id, timetable }: WatchedJob,
  { nowMs, changed, waiting }: Pick<QuestionInput, 'nowMs' | 'changed' | 'waiting'>,
): boolean {
  if (changed.has(id) || waiting.has(id)) return true;
  return timetable !== undefined && timetable.untilMs - nowMs < soonMs;
}

const soonMs = 900_000;

/** A server that tells one time for an answer is asked about a few jobs only. */
function spare(jobs: readonly WatchedJob[]): readonly WatchedJob[] {
  let single = 0;
  return jobs.filter(({ timetable }) => timetable?.source !== 'next-run' || ++single <= mostSingle);
}

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
