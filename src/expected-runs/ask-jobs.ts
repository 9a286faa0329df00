import type { Api } from '../api/client.ts';
import { ApiError, isOfWholeServer } from '../api/errors.ts';
import type { Clock } from '../domain/clock.ts';
import { type Asked, askSchedule } from './asking/ask-schedule.ts';
import { isUrgentQuestion, planQuestions } from './asking/plan-questions.ts';
import { createTimeShare } from './asking/time-share.ts';
import { isProjectOff } from './deciding/sources.ts';
import type { WatchedJob } from './deciding/watched-job.ts';
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

  async function askAll(api: Api, questions: readonly WatchedJob[], limit: Limit): Promise<Round> {
    const answered = new Map<string, Answered>();
    let requests = 0;
    for (const job of questions) {
      const isOver = limit.signal.aborted || clock.ticks() >= limit.untilTicks || requests >= limit.requests;
      if (isOver || share.leftMs() <= 0) break;
      const isUrgent = isUrgentQuestion(job, { nowMs: notes.serverNowMs(), changed, waiting });
      // However many are urgent, the others have their turn, too.
      const isTurnOfOthers =
        share.leftMs() <= share.fullMs * shareOfOthers || requests >= limit.requests * (1 - shareOfOthers);
      if (isUrgent && isTurnOfOthers) continue;
      const startTicks = clock.ticks();
      const asked = await askSchedule(api, job, {
        nowMs: notes.serverNowMs,
        isChanged: changed.has(job.id),
        isWaiting: waiting.has(job.id),
        isBrief: questions.length > mostRequests,
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
    const round = await askAll(
      api,
      questions.filter(({ id }) => !done.has(id)),
      limit,
    );
    if (round.answered.size > 0) await jobs.answer(round.answered, notes.clocks.behindMs(undefined));
    if (round.fault instanceof Error) throw round.fault;
    return round;
  }

  return {
    changed,
    waiting,
    toDurationMs: share.toDurationMs,
    read: async (api, signal) => {
      const limit = { signal, untilTicks: clock.ticks() + everyMs * mostOfInterval, requests: mostRequests };
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

const shareOfOthers = 0.4;
const mostOfInterval = 0.7;
const mostRequests = 240;
/** A server continues to list times although nobody waits for them any longer. */
const pauseMs = 600_000;
