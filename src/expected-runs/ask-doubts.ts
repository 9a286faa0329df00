import type { Api } from '../api/client.ts';
import { projectExecutions } from '../api/endpoints/executions.ts';
import { jobDefinition, jobForecast } from '../api/endpoints/jobs.ts';
import { ApiError } from '../api/errors.ts';
import { maxTimes } from './asking/plan-question.ts';
import { type Doubt, noteSight } from './deciding/doubts.ts';
import { fillGap, loseGap } from './deciding/gap.ts';
import type { Sources } from './deciding/sources.ts';
import { undecidedTimes, type WatchedJob } from './deciding/watched-job.ts';
import type { ExpectedJobs } from './expected-jobs.ts';
import { tolerate } from './listing.ts';

type Round = {
  readonly jobs: Pick<ExpectedJobs, 'all' | 'change'>;
  /** The request, by job id, that must be answered before a missed run of the job is decided. */
  readonly doubts: ReadonlyMap<string, Doubt>;
  /** Jobs whose last request timed out. Requests about other jobs come first. */
  readonly unanswered: Set<string>;
  readonly nowMs: () => number;
  readonly sources: () => Sources;
};

type Learned = Map<string, (job: WatchedJob) => WatchedJob>;

/** Sends the requests that undecided missed runs need. Returns true if any request was answered. */
export async function askDoubts(api: Api, round: Round): Promise<boolean> {
  const { jobs, doubts, unanswered } = round;
  for (const id of unanswered) if (!doubts.has(id)) unanswered.delete(id);
  const learned: Learned = new Map();
  let fault: Error | undefined;
  try {
    await askSome(api, round, learned);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    fault = error;
  }
  if (learned.size > 0) {
    await jobs.change(() =>
      [...learned].flatMap(([id, learn]) => {
        unanswered.delete(id);
        const job = jobs.all.get(id);
        return job === undefined ? [] : [{ job: learn(job), verdicts: [] }];
      }),
    );
  }
  if (fault !== undefined && !(fault instanceof ApiError && fault.kind === 'timeout')) throw fault;
  return learned.size > 0;
}

async function askSome(api: Api, round: Round, learned: Learned): Promise<void> {
  const { jobs, doubts, unanswered, nowMs } = round;
  const order = [...doubts].sort(([one], [other]) => Number(unanswered.has(one)) - Number(unanswered.has(other)));
  for (const [id, doubt] of order.slice(0, maxAtOnce)) {
    const job = jobs.all.get(id);
    if (job === undefined) continue;
    const askedAtMs = nowMs();
    const isAgain = unanswered.has(id);
    unanswered.add(id);
    if (doubt === 'definition') {
      const found = await readDefinition(api, id);
      learned.set(id, (now) => ({ ...now, definition: { askedAtMs, ...found } }));
    } else if (doubt === 'past') {
      learned.set(id, await askPast(api, job, { ...round, isAgain }));
    } else {
      const areHidden = await areRunsHidden(api, job, askedAtMs);
      learned.set(id, (now) => noteSight(now, { areHidden, askedAtMs }));
    }
  }
}

/** Requests the start times of a gap. The server lists all start times from the gap up to now, oldest first. */
async function askPast(api: Api, { id, timetable }: WatchedJob, { nowMs, sources, isAgain }: Round & Again) {
  const { gap } = timetable ?? {};
  const minutes = Math.ceil((nowMs() - (gap?.afterMs ?? nowMs())) / minuteMs) + 1;
  const query = { time: `${minutes}n`, max: maxTimes, past: true };
  const answer = await tolerate(() => api.get(jobForecast, { path: { id }, query })).catch((fault: unknown) =>
    toNothing(fault, isAgain),
  );
  const { timesMs } = answer ?? {};
  if (timesMs === undefined) return loseGap;
  return (now: WatchedJob) => fillGap(now, { timesMs, isCut: timesMs.length >= maxTimes }, sources());
}

type Again = { readonly isAgain: boolean };

/** Ignores a timeout, and an error of a repeated request. Rethrows other errors, so that the request is repeated once. */
function toNothing(fault: unknown, isAgain: boolean): undefined {
  if (!(fault instanceof ApiError) || fault.details.unsent === true) throw fault;
  if (fault.kind !== 'timeout' && !isAgain) throw fault;
}

const minuteMs = 60_000;

/**
 * Reports whether the server counts recent runs of the job that cannot be read. If the history is long, the server may
 * take minutes to count all runs.
 */
async function areRunsHidden(api: Api, job: WatchedJob, nowMs: number): Promise<boolean> {
  const { id, project } = job;
  const [firstMs = nowMs] = undecidedTimes(job);
  const query = { begin: Math.min(firstMs, nowMs - weekMs), jobIdListFilter: [id], max: 1 };
  const page = await tolerate(() => api.get(projectExecutions, { path: { project }, query }));
  return page !== undefined && page.total > 0 && page.items.length === 0;
}

/** Returns nothing if the definition cannot be read. */
async function readDefinition(api: Api, id: string): Promise<Omit<NonNullable<WatchedJob['definition']>, 'askedAtMs'>> {
  const isSupported = await api.supports(jobDefinition);
  const found = isSupported ? await tolerate(() => api.get(jobDefinition, { path: { id } })) : undefined;
  return found ?? { allowsSeveral: undefined };
}

const weekMs = 7 * 24 * 60 * minuteMs;
const maxAtOnce = 30;
