import type { Api } from '../api/client.ts';
import { projectExecutions } from '../api/endpoints/executions.ts';
import { jobDefinition } from '../api/endpoints/jobs.ts';
import { ApiError } from '../api/errors.ts';
import type { Doubt } from './deciding/doubts.ts';
import { noteSight } from './deciding/doubts.ts';
import type { WatchedJob } from './deciding/watched-job.ts';
import type { ExpectedJobs } from './expected-jobs.ts';
import { tolerate } from './tolerate.ts';

type Round = {
  readonly jobs: Pick<ExpectedJobs, 'all' | 'change'>;
  /** What misses wait for, by the id of their job. */
  readonly doubts: ReadonlyMap<string, Doubt>;
  /** Jobs whose last question was not answered in time: they are asked about after the others. */
  readonly unanswered: Set<string>;
  readonly nowMs: () => number;
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

async function askSome(api: Api, { jobs, doubts, unanswered, nowMs }: Round, learned: Learned): Promise<void> {
  const order = [...doubts].sort(([one], [other]) => Number(unanswered.has(one)) - Number(unanswered.has(other)));
  for (const [id, doubt] of order.slice(0, mostAtOnce)) {
    const job = jobs.all.get(id);
    if (job === undefined) continue;
    const askedAtMs = nowMs();
    unanswered.add(id);
    if (doubt === 'definition') {
      const allowsSeveral = await readAllowsSeveral(api, id);
      learned.set(id, (now) => ({ ...now, definition: { askedAtMs, allowsSeveral } }));
    } else {
      const areHidden = await areRunsHidden(api, job);
      learned.set(id, (now) => noteSight(now, { areHidden, askedAtMs }));
    }
  }
}

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

const mostAtOnce = 30;
