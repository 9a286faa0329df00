import type { Api } from '../../api/client.ts';
import { jobForecast, jobInfo } from '../../api/endpoints/jobs.ts';
import { isUneditedSince } from '../deciding/gap.ts';
import { joinAnswer } from '../deciding/join-answer.ts';
import { type Answer, timesAfter } from '../deciding/timetable.ts';
import { maxSpanMs, type WatchedJob } from '../deciding/watched-job.ts';
import { edgeMs, maxTimes, planQuestion, type Question, type Situation } from './plan-question.ts';

type AskInput = {
  readonly nowMs: () => number;
  /** True if the job list shows an edit of the job, which makes its known start times invalid. */
  readonly isChanged: boolean;
  /** True if a missed run waits for a confirmation of the known start times. */
  readonly isWaiting: boolean;
  /** True while too many other jobs wait. Two start times are then enough; more are requested when the job is next in turn. */
  readonly isBrief: boolean;
};

export type Asked = {
  readonly answers: readonly Answer[];
  readonly requests: number;
  /** The time that the server worked, without waits and round trips. */
  readonly workMs: number;
  /** Why the requests ended early: an error with the requested span, or a response without start times. */
  readonly end?: { readonly fault?: unknown; readonly spanMs?: number; readonly why?: string };
};

/** Requests the times of a schedule with as few requests as possible. For a new job, requests only the next time. */
export async function askSchedule(api: Api, job: WatchedJob, input: AskInput): Promise<Asked> {
  const { nowMs, isChanged, isWaiting, isBrief } = input;
  const answers: Answer[] = [];
  const hasForecast = await api.supports(jobForecast);
  let known = isChanged ? undefined : job.timetable;
  let isListDue = isWaiting;
  let isNextSure = false;
  let workMs = 0;
  const counted: Pick<Api, 'get'> = {
    get: async (endpoint, ...input) => {
      const timed = await api.getTimed(endpoint, ...input);
      workMs += timed.workMs;
      return timed.answer;
    },
  };
  let isUnedited = !isChanged && job.timetable !== undefined && isUneditedSince(job, job.timetable.askedAtMs);
  for (let requests = 1; requests <= maxRequests; requests += 1) {
    const askedAtMs = nowMs();
    const situation: Situation = {
      nowMs: askedAtMs,
      hasForecast,
      maxSpanMs: maxSpanMs(job, askedAtMs),
      isNextSure,
      isListDue,
      isUnedited,
      isConfirming: isWaiting && !isChanged,
    };
    const question = planQuestion(known, situation);
    if (question === undefined) break;
    const spanMs = question.ask === 'times' ? question.spanMs : undefined;
    const end = spanMs === undefined ? {} : { spanMs };
    let answer: Answer | Over | undefined;
    try {
      answer = await ask(counted, job, { question, hasForecast, askedAtMs });
    } catch (fault) {
      return { answers, requests, workMs, end: { ...end, fault } };
    }
    if (answer === undefined) return { answers, requests, workMs, end };
    if ('why' in answer) return { answers, requests, workMs, end: answer };
    answers.push(isChanged ? { ...answer, isAfterEdit: true } : answer);
    if (job.timetable === undefined && question.ask === 'next') break;
    known = joinAnswer(known, answer, { decidedMs: job.decidedMs, doubtMs: 0 }).timetable;
    // A single start time does not show the distance to the next one, so at least two are needed.
    if (isBrief && question.ask === 'times' && timesAfter(known, askedAtMs).length > 1) break;
    isListDue &&= question.ask === 'next';
    isUnedited ||= question.ask === 'times';
    // If the span has no start time, the next start is after the span and not known yet.
    isNextSure ||= answer.timesMs.length > 0;
  }
  return { answers, requests: answers.length, workMs };
}

/** Requests for the next start, and for the hour, the day and the week after the next start. */
const maxRequests = 4;

type One = { readonly question: Question; readonly hasForecast: boolean; readonly askedAtMs: number };

async function ask(api: Pick<Api, 'get'>, { id }: WatchedJob, one: One): Promise<Answer | Over | undefined> {
  const { question, hasForecast, askedAtMs } = one;
  const path = { id };
  const source = hasForecast ? 'forecast' : 'next-run';
  if (question.ask === 'next') {
    const { nextRunMs } = await api.get(jobInfo, { path });
    if (nextRunMs === undefined) return undefined;
    if (nextRunMs < askedAtMs - maxOverMs) return { why: 'the server reports a next run in the past' };
    return { source, askedAtMs, untilMs: nextRunMs, timesMs: [nextRunMs] };
  }
  const minutes = Math.ceil(question.spanMs / minuteMs);
  const { timesMs } = await api.get(jobForecast, { path, query: { time: `${minutes}n`, max: maxTimes } });
  if (timesMs === undefined) return undefined;
  const isCut = timesMs.length >= maxTimes;
  const untilMs = isCut ? (timesMs.at(-1) ?? askedAtMs) : askedAtMs + minutes * minuteMs - edgeMs;
  return { source, askedAtMs, untilMs, timesMs };
}

/** The reason why the reported next start is in the past: the scheduler of the server has stopped. */
type Over = { readonly why: string };

const minuteMs = 60_000;
/** How far in the past the reported next run may be. A server whose clock is behind still reports a run that is due now. */
const maxOverMs = 2 * minuteMs;
