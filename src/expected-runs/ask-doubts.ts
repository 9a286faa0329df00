import type { Api } from '../api/client.ts';
import { projectExecutions } from '../api/endpoints/executions.ts';
import { jobDefinition } from '../api/endpoints/jobs.ts';
import type { Doubt } from './deciding/doubts.ts';
import { noteSight } from './deciding/doubts.ts';
import type { WatchedJob } from './deciding/watched-job.ts';
import type { ExpectedJobs } from './expected-jobs.ts';
import { tolerate } from './tolerate.ts';

type Round = {
  readonly jobs: Pick<ExpectedJobs, 'all' | 'change'>;
  /** What misses wait for, by the id of their job. */
  readonly doubts: ReadonlyMap<string, Doubt>;
  readonly nowMs: () => number;
};

/** Asks what misses wait for, of some jobs; reports whether anything was asked. */
export async function askDoubts(api: Api, { jobs, doubts, nowMs }: Round): Promise<boolean> {
  const learned = new Map<string, (job: WatchedJob) => WatchedJob>();
  for (const [id, doubt] of [...doubts].slice(0, mostAtOnce)) {
    const job = jobs.all.get(id);
    if (job === undefined) continue;
    const askedAtMs = nowMs();
    if (doubt === 'definition') {
      const allowsSeveral = await readAllowsSeveral(api, id);
      learned.set(id, (now) => ({ ...now, definition: { askedAtMs, allowsSeveral } }));
    } else {
      const areHidden = await areRunsHidden(api, job);
      learned.set(id, (now) => noteSight(now, { areHidden, askedAtMs }));
    }
  }
  if (learned.size === 0) return false;
  await jobs.change(() =>
    [...learned].flatMap(([id, learn]) => {
      const job = jobs.all.get(id);
      return job === undefined ? [] : [{ job: learn(job), verdicts: [] }];
    }),
  );
  return true;
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
