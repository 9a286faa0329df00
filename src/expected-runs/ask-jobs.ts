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

export type Asking = {
  /** Jobs that the list of jobs showed as changed, and jobs with a miss that an answer has to confirm. */
  readonly changed: Set<string>;
  readonly waiting: Set<string>;
  /** Asks for the schedules that are due, one after the other; reports whether any was answered. */
  readonly read: (api: Api, signal: AbortSignal) => Promise<boolean>;
  /** The time that as many questions take, with the rests between them. */
  readonly toDurationMs: (questions: number) => number;
};

type Options = {
  readonly jobs: Pick<ExpectedJobs, 'all' | 'answer'>;
  readonly notes: Pick<SourceNotes, 'all' | 'serverNowMs' | 'clocks'>;
  readonly clock: Pick<Clock, 'ticks'>;
  readonly everyMs: number;
};

/**
 * Asks a server about the schedules of its jobs: one question at a time, for a small share of its time, and none for a while after
 * one that it could not bear.
 */
export function createAsking({ jobs, notes, clock, everyMs }: Options): Asking {
  const changed = new Set<string>();
  const waiting = new Set<string>();
  let pausedUntilTicks = Number.NEGATIVE_INFINITY;
  const share = createTimeShare(clock, everyMs);

  async function askAll(api: Api, questions: readonly DueJob[], limit: Limit): Promise<Round> {
    const answered = new Map<string, Answered>();
    let requests = 0;
    for (const { job, rank } of questions) {
      const isOver = limit.signal.aborted || clock.ticks() >= limit.untilTicks || requests >= limit.requests;
      if (isOver || share.leftMs() <= 0) break;
      const isTurnOfOthers = share.isTurnOfOthers() || requests >= limit.requests * (1 - shareOfOthers);
      if (isTurnOfOthers && isUrgent(rank)) continue;
      const startTicks = clock.ticks();
      const asked = await askSchedule(api, job, {
        nowMs: notes.serverNowMs,
        isChanged: changed.has(job.id),
        isWaiting: waiting.has(job.id),
        isBrief: questions.length > maxRequests,
      });
      requests += asked.requests;
      share.take(clock.ticks() - startTicks, asked.requests);
      const fault = asked.end?.fault;
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
    changed,
    waiting,
    toDurationMs: share.toDurationMs,
    read: async (api, signal) => {
      const limit = { signal, untilTicks: clock.ticks() + everyMs * maxOfInterval, requests: maxRequests };
      const done = new Set<string>();
      share.grow();
      let isAnswered = false;
      // The next times of new jobs come first, and show which of them are asked about further.
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
  /** A fault of the server itself: nothing more is asked. */
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

/** Reports whether a server may have failed because of all the times that it had to list. */
function isTooMuch({ end }: Asked): boolean {
  const { fault, spanMs } = end ?? {};
  if (spanMs === undefined || !(fault instanceof ApiError)) return false;
  const { unsent, isOwnLimit } = fault.details;
  return unsent !== true && isOwnLimit !== true && ['timeout', 'network', 'server', 'empty'].includes(fault.kind);
}

function isTimeout(fault: unknown): boolean {
  return fault instanceof ApiError && fault.kind === 'timeout';
}

function isOfJob(fault: unknown): boolean {
  return fault instanceof ApiError && !isOfWholeServer(fault);
}

const maxOfInterval = 0.7;
const maxRequests = 240;
/** A server continues to list times although nobody waits for them any longer. */
const pauseMs = 600_000;

type QuestionInput = {
  readonly nowMs: number;
  readonly changed: ReadonlySet<string>;
  readonly waiting: ReadonlySet<string>;
  readonly isProjectOff: (project: string) => boolean;
};

type DueJob = { readonly job: WatchedJob; readonly rank: number };

const ranks = { changed: 0, unknown: 1, soon: 2, due: 3, refused: 4 } as const;

/**
 * Chooses the jobs whose schedule is asked for now: first those that were changed, then those that are unknown, then those that a
 * miss waits for or whose known times end soon, then those that are due, and at last those that were refused: however many they
 * are, they hold up no other.
 */
function planQuestions(jobs: Iterable<WatchedJob>, input: QuestionInput): readonly DueJob[] {
  const due: DueJob[] = [];
  for (const job of jobs) {
    const rank = toRank(job, input);
    if (rank !== undefined) due.push({ job, rank });
  }
  // Of one rank those come first whose known times end first.
  const untilOf = ({ timetable }: WatchedJob): number => timetable?.untilMs ?? 0;
  due.sort((one, other) => one.rank - other.rank || untilOf(one.job) - untilOf(other.job));
  // A server that tells one time for an answer is asked about a few jobs only.
  let single = 0;
  return due.filter(({ job }) => job.timetable?.source !== 'next-run' || ++single <= maxSingle);
}

function toRank(job: WatchedJob, { nowMs, changed, waiting, isProjectOff }: QuestionInput): number | undefined {
  const { id, timetable, unread } = job;
  if (job.goneAtMs !== undefined || isOff(job) || isProjectOff(job.project)) return undefined;
  if (changed.has(id)) return ranks.changed;
  if (unread !== undefined) return nowMs >= restsUntilMs(unread) || nowMs < unread.atMs ? ranks.refused : undefined;
  if (timetable === undefined) return ranks.unknown;
  if (waiting.has(id)) return ranks.soon;
  const isDue = nowMs >= toRefreshMs(timetable) || isUnlisted(timetable, nowMs, maxSpanMs(job, nowMs));
  if (!isDue) return undefined;
  return timetable.untilMs - nowMs < soonMs ? ranks.soon : ranks.due;
}

/** However many these are, the others have their turn, too. */
function isUrgent(rank: number): boolean {
  return rank === ranks.changed || rank === ranks.soon;
}

const soonMs = 900_000;
const maxSingle = 10;

/** The part of the time for which answers about schedules are waited for. */
type TimeShare = {
  readonly leftMs: () => number;
  /** Reports whether what is left is kept for questions that are not urgent. */
  readonly isTurnOfOthers: () => boolean;
  /** Adds what the time since the last call gives, up to that of one interval. */
  readonly grow: () => void;
  readonly take: (ms: number, requests: number) => void;
  readonly toDurationMs: Asking['toDurationMs'];
};

/** A server works while it is waited for: what questions take of the time is the most that they use of one core. */
function createTimeShare(clock: Pick<Clock, 'ticks'>, everyMs: number): TimeShare {
  const fullMs = everyMs * shareOfTime;
  let leftMs = fullMs;
  let atTicks = clock.ticks();
  let meanMs = 0;
  return {
    leftMs: () => leftMs,
    isTurnOfOthers: () => leftMs <= fullMs * shareOfOthers,
    grow: () => {
      const ticks = clock.ticks();
      leftMs = Math.min(fullMs, leftMs + (ticks - atTicks) * shareOfTime);
      atTicks = ticks;
    },
    take: (ms, requests) => {
      if (requests === 0) return;
      const eachMs = ms / requests;
      const countedMs = eachMs > slowMs ? ms : Math.min(eachMs, maxWorkMs) * requests;
      // One slow answer does not silence the questions for hours.
      leftMs = Math.max(leftMs - countedMs, -maxDebt * fullMs);
      meanMs = meanMs === 0 ? countedMs : meanMs + (countedMs - meanMs) / 10;
    },
    toDurationMs: (questions) => (questions * meanMs) / shareOfTime,
  };
}

const shareOfTime = 0.007;
const shareOfOthers = 0.4;
/** In intervals. */
const maxDebt = 10;
/** Of an answer that takes longer than this the rest is taken for the way to the server and back, unless it is truly slow. */
const maxWorkMs = 60;
const slowMs = 2000;
