import type { Api } from '../api/client.ts';
import { ApiError, isOfWholeServer } from '../api/errors.ts';
import type { Clock } from '../domain/clock.ts';
import { type Asked, askSchedule } from './asking/ask-schedule.ts';
import { type DueJob, isUrgent, planDueJobs } from './asking/due-jobs.ts';
import { createTimeShare, shareOfOthers } from './asking/time-share.ts';
import { isProjectOff } from './deciding/sources.ts';
import { maxRestMs, type WatchedJob } from './deciding/watched-job.ts';
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
  const recovered = new Map<string, number>();
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
    const nowMs = notes.serverNowMs();
    const due = planDueJobs(jobs.all.values(), {
      nowMs,
      changed,
      waiting,
      recovered,
      isProjectOff: (project) => isProjectOff(sources, project),
    }).filter(({ job }) => !done.has(job.id));
    const round = await askAll(api, due, limit);
    noteRecovered(recovered, due, round.answered, nowMs);
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
      // The next start times of new jobs come first, because other requests need them.
      for (let round = 0; round < 2 && clock.ticks() >= pausedUntilTicks && limit.requests > 0; round += 1) {
        const fresh = findFresh(jobs.all.values());
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

function findFresh(jobs: Iterable<WatchedJob>): ReadonlySet<string> {
  return new Set([...jobs].filter(({ timetable }) => timetable === undefined).map(({ id }) => id));
}

/** Records the projects in which a schedule became readable again, and removes each record after the longest pause. */
function noteRecovered(
  recovered: Map<string, number>,
  asked: readonly DueJob[],
  answered: Round['answered'],
  nowMs: number,
): void {
  for (const { job } of asked) {
    const { answers = [], unread } = answered.get(job.id) ?? {};
    if (job.unread !== undefined && unread === undefined && answers.length > 0) recovered.set(job.project, nowMs);
  }
  for (const [project, atMs] of recovered) if (nowMs - atMs > maxRestMs) recovered.delete(project);
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

/** Reports whether the server may have failed because it had too many start times to list. */
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
/** The server continues to list start times after the client has stopped waiting. */
const pauseMs = 600_000;
