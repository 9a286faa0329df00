import { toRefreshMs } from '../deciding/timetable.ts';
import { isOff, maxSpanMs, minRestMs, restsUntilMs, type WatchedJob } from '../deciding/watched-job.ts';
import { isUnlisted } from './plan-question.ts';

type DueInput = {
  readonly nowMs: number;
  readonly changed: ReadonlySet<string>;
  readonly waiting: ReadonlySet<string>;
  /** The projects in which a schedule became readable again, with the time. */
  readonly recovered: ReadonlyMap<string, number>;
  readonly isProjectOff: (project: string) => boolean;
};

export type DueJob = { readonly job: WatchedJob; readonly rank: number };

const ranks = { changed: 0, waiting: 1, unknown: 2, soon: 3, due: 4, refused: 5, resting: 6 } as const;

/**
 * Sorts the jobs whose schedules are requested: changed jobs, jobs with an undecided missed run, jobs without known times, jobs
 * whose known times end soon, other jobs. Jobs whose requests failed come last, so that they do not delay others.
 */
export function planDueJobs(jobs: Iterable<WatchedJob>, input: DueInput): readonly DueJob[] {
  const due: DueJob[] = [];
  const resting: WatchedJob[] = [];
  for (const job of jobs) {
    const rank = toRank(job, input);
    if (rank === ranks.resting) resting.push(job);
    else if (rank !== undefined) due.push({ job, rank });
  }
  due.push(...chooseTrials(resting, input.nowMs));
  due.sort((one, other) => one.rank - other.rank || toTurnMs(one) - toTurnMs(other));
  // If responses contain only one start time each, only a few jobs are requested.
  let single = 0;
  return due.filter(({ job }) => job.timetable?.source !== 'next-run' || ++single <= maxSingle);
}

/** Returns the time by which jobs of the same rank are sorted: the last request for a missed run, else the end of known times. */
function toTurnMs({ job: { timetable }, rank }: DueJob): number {
  return (rank === ranks.waiting ? timetable?.askedAtMs : timetable?.untilMs) ?? 0;
}

/**
 * Every ten minutes, chooses one job of each project whose requests failed, because the missing right may have been granted.
 */
function chooseTrials(resting: readonly WatchedJob[], nowMs: number): readonly DueJob[] {
  const askedMs = ({ unread }: WatchedJob): number => unread?.atMs ?? 0;
  return [...Map.groupBy(resting, ({ project }) => project).values()].flatMap((jobs) => {
    const [first, ...others] = jobs.toSorted((one, other) => askedMs(one) - askedMs(other));
    const last = others.at(-1) ?? first;
    if (first === undefined || last === undefined || nowMs - askedMs(last) < minRestMs) return [];
    return { job: first, rank: ranks.refused };
  });
}

function toRank(job: WatchedJob, { nowMs, changed, waiting, recovered, isProjectOff }: DueInput): number | undefined {
  const { id, project, timetable, unread } = job;
  if (job.goneAtMs !== undefined || isOff(job) || isProjectOff(project)) return undefined;
  if (changed.has(id)) return ranks.changed;
  if (unread !== undefined) {
    const { atMs } = unread;
    if (nowMs >= restsUntilMs(unread) || nowMs < atMs || (recovered.get(project) ?? -Infinity) > atMs)
      return ranks.refused;
    // If the server failed because of too many times, the job waits for the whole pause.
    return job.limit?.atMs === atMs ? undefined : ranks.resting;
  }
  if (timetable === undefined) return ranks.unknown;
  if (waiting.has(id)) return ranks.waiting;
  const isDue = nowMs >= toRefreshMs(timetable) || isUnlisted(timetable, nowMs, maxSpanMs(job, nowMs));
  if (!isDue) return undefined;
  return timetable.untilMs - nowMs < soonMs ? ranks.soon : ranks.due;
}

/** Reports whether a job is urgent. Part of the requests is reserved for jobs that are not urgent. */
export function isUrgent(rank: number): boolean {
  return rank === ranks.changed || rank === ranks.waiting || rank === ranks.soon;
}

const soonMs = 900_000;
const maxSingle = 10;
