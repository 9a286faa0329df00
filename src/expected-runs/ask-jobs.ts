import type { Api } from '../api/client.ts';
import { ApiError, isOfWholeServer } from '../api/errors.ts';
import type { Clock } from '../domain/clock.ts';
import { type Asked, askSchedule } from './asking/ask-schedule.ts';
import { isUnlisted } from './asking/plan-question.ts';
import { isProjectOff } from './deciding/sources.ts';
import { toRefreshMs } from './deciding/timetable.ts';
import { isOff, maxSpanMs, restsUntilMs, type WatchedJob } from './deciding/watched-job.ts';
import type { Answered, ExpectedJobs } from './expected-jobs.ts';
import type { SourceNotes } from './sources.ts';

export type Asking = ReturnType<typeof createAsking>;

type Options = {
  readonly jobs: Pick<ExpectedJobs, 'all' | 'answer'>;
  readonly notes: Pick<SourceNotes, 'all' | 'serverNowMs' | 'clocks'>;
  readonly clock: Pick<Clock, 'ticks'>;
  readonly everyMs: number;
};

/**
 * Requests the schedules of jobs one at a time, within a small share of the server's time. After a request that was too much
 * for the server, no schedule is requested for a while.
 */
export function createAsking({ jobs, notes, clock, everyMs }: Options) {
  const changed = new Set<string>();
  const waiting = new Set<string>();
  let pausedUntilTicks = Number.NEGATIVE_INFINITY;
  const share = createTimeShare(clock, everyMs);

  async function askAll(api: Api, questions: readonly DueJob[], limit: Limit): Promise<Round> {
    const answered = new Map<string, Answered>();
    const hasOthers = questions.some(({ rank }) => !isUrgent(rank));
    let requests = 0;
    for (const { job, rank } of questions) {
      const isOver = limit.signal.aborted || clock.ticks() >= limit.untilTicks || requests >= limit.requests;
      if (isOver || share.leftMs() <= 0) break;
      const isTurnOfOthers = share.isTurnOfOthers() || requests >= limit.requests * (1 - shareOfOthers);
      if (hasOthers && isTurnOfOthers && isUrgent(rank)) continue;
      const startTicks = clock.ticks();
      const asked = await askSchedule(api, job, {
        nowMs: notes.serverNowMs,
        isChanged: changed.has(job.id),
        isWaiting: waiting.has(job.id),
        isBrief: questions.length > maxRequests || share.isTooLong(questions.length),
      });
      requests += asked.requests;
      const fault = asked.end?.fault;
      share.take(fault === undefined || isUnsent(fault) ? asked.workMs : clock.ticks() - startTicks, asked.requests);
      const isCostly = isTooMuch(asked);
      answered.set(job.id, toAnswered(asked, { atMs: notes.serverNowMs(), isCostly }));
      if (isCostly) pausedUntilTicks = clock.ticks() + pauseMs;
      if (fault !== undefined && !isOfJob(fault) && !(isCostly && isTimeout(fault)))
        return { answered, requests, fault };
      changed.delete(job.id);
      if (isCostly) break;
    }
    return { answered, requests };
  }

  async function readOnce(api: Api, limit: Limit, done: ReadonlySet<string>): Promise<Round> {
    const sources = notes.all();
    const questions = planQuestions(jobs.all.values(), {
      nowMs: notes.serverNowMs(),
      changed,
      waiting,
      isProjectOff: (project) => isProjectOff(sources, project),
    });
    const left = questions.filter(({ job }) => !done.has(job.id));
    const round = await askAll(api, left, limit);
    if (round.answered.size > 0) await jobs.answer(round.answered, notes.clocks.behindMs(undefined));
    if (round.fault instanceof Error) throw round.fault;
    return round;
  }

  return {
    /** Jobs that changed in the job list, and jobs with a missed run that a new answer must confirm. */
    changed,
    waiting,
    /** Returns how long that many requests take, with the pauses between them. */
    toDurationMs: share.toDurationMs,
    /** Requests the schedules that are due, one after the other; reports whether any was answered. */
    read: async (api: Api, signal: AbortSignal) => {
      const limit = { signal, untilTicks: clock.ticks() + everyMs * maxOfInterval, requests: maxRequests };
      const done = new Set<string>();
      share.grow();
      let isAnswered = false;
      // First the next times of new jobs, because they decide which other requests are needed.
      for (let round = 0; round < 2 && clock.ticks() >= pausedUntilTicks && limit.requests > 0; round += 1) {
        const fresh = new Set(
          [...jobs.all.values()].filter(({ timetable }) => timetable === undefined).map(({ id }) => id),
        );
        const { answered, requests } = await readOnce(api, limit, done);
        limit.requests -= requests;
        for (const [id, { answers }] of answered) {
          isAnswered ||= answers.length > 0;
          if (!fresh.has(id)) done.add(id);
        }
      }
      return isAnswered;
    },
  };
}

type Limit = { readonly signal: AbortSignal; readonly untilTicks: number; requests: number };

type Round = {
  readonly answered: ReadonlyMap<string, Answered>;
  readonly requests: number;
  /** An error of the server itself; no more requests are sent. */
  readonly fault?: unknown;
};

function toAnswered({ answers, end }: Asked, { atMs, isCostly }: { atMs: number; isCostly: boolean }): Answered {
  if (end === undefined) return { answers };
  const { fault, spanMs } = end;
  if (fault !== undefined && !isOfJob(fault) && !isCostly) return { answers };
  const text = fault instanceof ApiError ? fault.message : end.why;
  const why = text === undefined ? {} : { why: text };
  return {
    answers,
    unread: { atMs, ...why },
    ...(isCostly && spanMs !== undefined ? { limit: { atMs, spanMs } } : {}),
  };
}

/** Reports whether the server may have failed because it had to list too many times. */
function isTooMuch({ end }: Asked): boolean {
  const { fault, spanMs } = end ?? {};
  if (spanMs === undefined || !(fault instanceof ApiError)) return false;
  return !isUnsent(fault) && ['timeout', 'network', 'server', 'empty'].includes(fault.kind);
}

function isUnsent(fault: unknown): boolean {
  return fault instanceof ApiError && fault.details.unsent === true;
}

function isTimeout(fault: unknown): boolean {
  return fault instanceof ApiError && fault.kind === 'timeout';
}

function isOfJob(fault: unknown): boolean {
  return fault instanceof ApiError && !isOfWholeServer(fault);
}

const maxOfInterval = 0.7;
const maxRequests = 240;
/** The server continues to list times after the client has stopped waiting. */
const pauseMs = 600_000;

type QuestionInput = {
  readonly nowMs: number;
  readonly changed: ReadonlySet<string>;
  readonly waiting: ReadonlySet<string>;
  readonly isProjectOff: (project: string) => boolean;
};

type DueJob = { readonly job: WatchedJob; readonly rank: number };

const ranks = { changed: 0, waiting: 1, unknown: 2, soon: 3, due: 4, refused: 5 } as const;

/**
 * Chooses the jobs whose schedules are requested: first changed jobs, then jobs with a waiting missed run, then unknown ones,
 * then jobs whose known times end soon, then due ones. Jobs whose requests failed come last, so that they delay no other.
 */
function planQuestions(jobs: Iterable<WatchedJob>, input: QuestionInput): readonly DueJob[] {
  const due: DueJob[] = [];
  for (const job of jobs) {
    const rank = toRank(job, input);
    if (rank !== undefined) due.push({ job, rank });
  }
  due.sort((one, other) => one.rank - other.rank || toTurnMs(one) - toTurnMs(other));
  // If each answer has only one time, only a few jobs are requested.
  let single = 0;
  return due.filter(({ job }) => job.timetable?.source !== 'next-run' || ++single <= maxSingle);
}

/** Jobs of the same rank are sorted by the end of their known times; those with a missed run by their last answer. */
function toTurnMs({ job: { timetable }, rank }: DueJob): number {
  return (rank === ranks.waiting ? timetable?.askedAtMs : timetable?.untilMs) ?? 0;
}

function toRank(job: WatchedJob, { nowMs, changed, waiting, isProjectOff }: QuestionInput): number | undefined {
  const { id, timetable, unread } = job;
  if (job.goneAtMs !== undefined || isOff(job) || isProjectOff(job.project)) return undefined;
  if (changed.has(id)) return ranks.changed;
  if (unread !== undefined) return nowMs >= restsUntilMs(unread) || nowMs < unread.atMs ? ranks.refused : undefined;
  if (timetable === undefined) return ranks.unknown;
  if (waiting.has(id)) return ranks.waiting;
  const isDue = nowMs >= toRefreshMs(timetable) || isUnlisted(timetable, nowMs, maxSpanMs(job, nowMs));
  if (!isDue) return undefined;
  return timetable.untilMs - nowMs < soonMs ? ranks.soon : ranks.due;
}

/** Reports whether a job is urgent. Urgent jobs never use up all requests. */
function isUrgent(rank: number): boolean {
  return rank === ranks.changed || rank === ranks.waiting || rank === ranks.soon;
}

const soonMs = 900_000;
const maxSingle = 10;

/** The server works while the exporter waits, so this share limits its use of one core. */
function createTimeShare(clock: Pick<Clock, 'ticks'>, everyMs: number) {
  const fullMs = everyMs * shareOfTime;
  let leftMs = fullMs;
  let atTicks = clock.ticks();
  let meanMs = 0;
  return {
    leftMs: (): number => leftMs,
    /** Reports whether the remaining time is reserved for jobs that are not urgent. */
    isTurnOfOthers: (): boolean => leftMs <= fullMs * shareOfOthers,
    /** Adds the share of the time since the last call, at most the share of one interval. */
    grow: (): void => {
      const ticks = clock.ticks();
      leftMs = Math.min(fullMs, leftMs + (ticks - atTicks) * shareOfTime);
      atTicks = ticks;
    },
    take: (ms: number, requests: number): void => {
      if (requests === 0) return;
      const eachMs = ms / requests;
      const countedMs = eachMs > slowMs ? ms : Math.min(eachMs, maxWorkMs) * requests;
      // One slow answer must not stop requests for hours.
      leftMs = Math.max(leftMs - countedMs, -maxDebt * fullMs);
      meanMs = meanMs === 0 ? countedMs : meanMs + (countedMs - meanMs) / 10;
    },
    /** Reports whether requests about this many jobs take longer than one interval. */
    isTooLong: (questions: number): boolean => questions * meanMs > fullMs,
    toDurationMs: (questions: number): number => (questions * meanMs) / shareOfTime,
  };
}

const shareOfTime = 0.007;
const shareOfOthers = 0.4;
/** A number of intervals. */
const maxDebt = 10;
/** The rest of a longer response counts as waiting, unless the response is very slow: a real server works for 5 to 15 ms. */
const maxWorkMs = 25;
const slowMs = 2000;
