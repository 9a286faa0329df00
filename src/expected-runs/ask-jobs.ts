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

/** Requests the schedules of jobs, one at a time, within a small share of the server's time. An overload causes a long pause. */
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
    /** Jobs that changed in the list, and jobs with an unconfirmed missed run. */
    changed,
    waiting,
    /** Returns how long the given number of requests takes, including the pauses between them. */
    toDurationMs: share.toDurationMs,
    /** Requests the due schedules one by one. Returns true if any request was answered. */
    read: async (api: Api, signal: AbortSignal) => {
      const limit = { signal, untilTicks: clock.ticks() + everyMs * maxOfInterval, requests: maxRequests };
      const done = new Set<string>();
      share.grow();
      let isAnswered = false;
      // The next times of new jobs come first, because other requests need them.
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
  /** An error of the whole server, after which no more requests are sent. */
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

/** Reports whether the server may have failed because it had too many times to list. */
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
/** The server continues to list times after the client has stopped waiting for them. */
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
 * Sorts the jobs for requests: changed, undecided, unknown, soon ending, and other jobs. Jobs whose requests failed come last,
 * so that they do not delay others.
 */
function planQuestions(jobs: Iterable<WatchedJob>, input: QuestionInput): readonly DueJob[] {
  const due: DueJob[] = [];
  for (const job of jobs) {
    const rank = toRank(job, input);
    if (rank !== undefined) due.push({ job, rank });
  }
  due.sort((one, other) => one.rank - other.rank || toTurnMs(one) - toTurnMs(other));
  // If responses contain only one time each, only a few jobs are requested.
  let single = 0;
  return due.filter(({ job }) => job.timetable?.source !== 'next-run' || ++single <= maxSingle);
}

/** Returns the time by which jobs of the same rank are sorted: the last request for a missed run, else the end of known times. */
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

/** Reports whether a job is urgent. Part of the requests is reserved for jobs that are not urgent. */
function isUrgent(rank: number): boolean {
  return rank === ranks.changed || rank === ranks.waiting || rank === ranks.soon;
}

const soonMs = 900_000;
const maxSingle = 10;

/** Limits requests to a share of one core of the server. */
function createTimeShare(clock: Pick<Clock, 'ticks'>, everyMs: number) {
  const fullMs = everyMs * shareOfTime;
  let leftMs = fullMs;
  let atTicks = clock.ticks();
  let meanMs = 0;
  return {
    leftMs: (): number => leftMs,
    /** Reports whether the rest of the time is reserved for jobs that are not urgent. */
    isTurnOfOthers: (): boolean => leftMs <= fullMs * shareOfOthers,
    /** Adds the share of the time since the last call, up to the share of one interval. */
    grow: (): void => {
      const ticks = clock.ticks();
      leftMs = Math.min(fullMs, leftMs + (ticks - atTicks) * shareOfTime);
      atTicks = ticks;
    },
    take: (ms: number, requests: number): void => {
      if (requests === 0) return;
      const eachMs = ms / requests;
      const countedMs = eachMs > slowMs ? ms : Math.min(eachMs, maxWorkMs) * requests;
      // The debt is limited, so that one slow response does not stop requests for hours.
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
/** The maximum debt in intervals. */
const maxDebt = 10;
/** The work assumed for one response. A server works for 5 to 15 ms and waits for the rest, unless it is very slow. */
const maxWorkMs = 25;
const slowMs = 2000;
