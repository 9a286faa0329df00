import type { Api } from '../api/client.ts';
import { projectExecutions } from '../api/endpoints/executions.ts';
import { jobDefinition, jobForecast } from '../api/endpoints/jobs.ts';
import { ApiError } from '../api/errors.ts';
import { maxTimes } from './asking/plan-question.ts';
import { type Doubt, noteSight } from './deciding/doubts.ts';
import { fillGap, loseGap } from './deciding/gap.ts';
import type { Sources } from './deciding/sources.ts';
import type { WatchedJob } from './deciding/watched-job.ts';
import type { ExpectedJobs } from './expected-jobs.ts';
import { tolerate } from './listing.ts';

type Round = {
  readonly jobs: Pick<ExpectedJobs, 'all' | 'change'>;
  /** What misses wait for, by the id of their job. */
  readonly doubts: ReadonlyMap<string, Doubt>;
  /** Jobs whose last question was not answered in time: they are asked about after the others. */
  readonly unanswered: Set<string>;
  readonly nowMs: () => number;
  readonly sources: () => Sources;
};

type Learned = Map<string, (job: WatchedJob) => WatchedJob>;

/** Asks what misses wait for, of some jobs; reports whether anything was learned. One question that times out holds up nothing else. */
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
      const allowsSeveral = await readAllowsSeveral(api, id);
      learned.set(id, (now) => ({ ...now, definition: { askedAtMs, allowsSeveral } }));
    } else if (doubt === 'past') {
      learned.set(id, await askPast(api, job, { ...round, isAgain }));
    } else {
      const areHidden = await areRunsHidden(api, job);
      learned.set(id, (now) => noteSight(now, { areHidden, askedAtMs }));
    }
  }
}

/** Asks for the times of a gap, the oldest of them first; the server lists all from there up to now. */
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

/** What a server does not list in time it is not asked for again; after another fault it is, once. */
function toNothing(fault: unknown, isAgain: boolean): undefined {
  if (!(fault instanceof ApiError) || fault.details.unsent === true) throw fault;
  if (fault.kind !== 'timeout' && !isAgain) throw fault;
}

const minuteMs = 60_000;

/** The server counts the runs of a job that may be viewed and not read, and shows none of them. */
async function areRunsHidden(api: Api, { id, project }: WatchedJob): Promise<boolean> {
  const query = { jobIdListFilter: [id], max: 1 };
  const page = await tolerate(() => api.get(projectExecutions, { path: { project }, query }));
  return page !== undefined && page.total > 0 && page.items.length === 0 && page.oddRows.length === 0;
}

/** Undefined where the definition may not be read. */
async function readAllowsSeveral(api: Api, id: string): Promise<boolean | undefined> {
  if (!(await api.supports(jobDefinition))) return undefined;
  return (await tolerate(() => api.get(jobDefinition, { path: { id } })))?.allowsSeveral;
}

const maxAtOnce = 30;
