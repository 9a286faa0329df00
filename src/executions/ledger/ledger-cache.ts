import type { JobFacts } from '../../domain/job.ts';
import { createQueue } from '../../domain/pause.ts';
import type { Ledger } from '../../state/ledger.ts';
import { createSeriesSlots, type Totals } from '../counting/series-slots.ts';
import { toCellKey, toJobKey } from '../counting/totals.ts';
import type { Failures } from './failures.ts';
import { type LedgerChange, planDocuments, readContents, restored } from './ledger-documents.ts';
import { toNewest } from './recent-runs.ts';

/** The content of the ledger in memory. The content changes only after a commit. */
export type LedgerCache = Awaited<ReturnType<typeof openLedgerCache>>;

export async function openLedgerCache(
  ledger: Ledger,
  server: string,
  { nowMs = Number.POSITIVE_INFINITY, failures }: { nowMs?: number; failures?: Failures } = {},
) {
  const documents = await ledger.load(server);
  failures?.load(documents);
  const contents = readContents(documents);
  const { cells, jobs, states, idHours } = contents;
  const totals: Totals = { cells, jobs, slots: createSeriesSlots(cells.values(), jobs) };
  const byId = createJobsById(jobs);
  let recent = toNewest(contents.sheets, nowMs);
  const oneAtATime = createQueue();

  async function commit(change: LedgerChange): Promise<void> {
    const { documents, sheets, goneCells, goneHours } = planDocuments(change, contents);
    const { entries = [], spooled = [], prune } = change;
    await ledger.commit(server, { entries, documents, spooled, ...(prune === undefined ? {} : { prune }) });
    apply(change);
    for (const key of goneCells) cells.delete(key);
    for (const hour of goneHours) idHours.delete(hour);
    if (sheets === contents.sheets) return;
    contents.sheets = sheets;
    recent = toNewest(sheets, change.latestMs ?? Number.POSITIVE_INFINITY);
  }

  function apply(change: LedgerChange): void {
    contents.facts = change.facts ?? contents.facts;
    for (const state of change.states ?? []) states.set(state.project, state);
    for (const cell of change.cells ?? []) cells.set(toCellKey(cell.kind, cell.labels), cell);
    if (change.claims !== undefined) totals.slots.settle(change.claims);
    for (const job of change.jobs ?? []) putJob(job);
    for (const key of change.forgetJobs ?? []) {
      byId.remove(key);
      totals.slots.forgetJob(key);
    }
    if (change.forget !== undefined) drop(change.forget);
    if (change.hasNewEpoch === true) idHours.clear();
    for (const hour of change.idHours ?? []) idHours.set(hour.hour, hour);
  }

  function putJob(job: JobFacts): void {
    const key = toJobKey(job.project, job.group, job.name);
    jobs.set(key, job);
    byId.note(job);
    if (job.leftOut === 'all') totals.slots.leave('jobs', key);
    if (job.leftOut !== undefined) totals.slots.leave('durations', key);
  }

  function drop(project: string): void {
    states.delete(project);
    for (const [key, { labels }] of cells) if (labels[0] === project) cells.delete(key);
    for (const [key, job] of jobs) if (job.project === project) byId.remove(key);
    totals.slots.forget(project);
  }

  return {
    totals,
    states,
    idHours,
    facts: () => contents.facts,
    /** True if the ledger has the mark of a restore that lost commits. `open` of the restore gap removes the mark. */
    isRestored: documents.some(({ kind, key }) => kind === restored.kind && key === restored.key),
    /** Returns the facts of a job by name. With an id, returns the facts of the job with this id, which may have another name. */
    factsOf: (project: string, group: string, name: string, jobId?: string): JobFacts | undefined => {
      const named = jobs.get(toJobKey(project, group, name));
      if (jobId === undefined) return named;
      return byId.of(jobId) ?? (named?.jobId === undefined ? named : undefined);
    },
    recent: () => recent,
    /** Makes and commits one change at a time, each from the result of the previous change. A failed change has no effect. */
    update: (make: () => Promise<LedgerChange | undefined>) =>
      oneAtATime(async () => {
        const change = await make();
        if (change !== undefined) await commit(change);
      }),
  };
}

/** Maps the id of each job to the facts of its last run. Names are not enough, because two jobs may swap their names. */
function createJobsById(jobs: Map<string, JobFacts>) {
  const byId = new Map<string, JobFacts>();
  const note = (job: JobFacts): void => {
    const { jobId, lastEndMs } = job;
    if (jobId !== undefined && (byId.get(jobId)?.lastEndMs ?? lastEndMs) <= lastEndMs) byId.set(jobId, job);
  };
  for (const job of jobs.values()) note(job);
  return {
    note,
    remove: (key: string): void => {
      const job = jobs.get(key);
      jobs.delete(key);
      if (job?.jobId !== undefined && byId.get(job.jobId) === job) byId.delete(job.jobId);
    },
    of: (jobId: string): JobFacts | undefined => byId.get(jobId),
  };
}
