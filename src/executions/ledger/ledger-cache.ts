import type { Window } from '../../api/paging.ts';
import type { Ledger, LedgerDocument, LedgerEntry } from '../../state/ledger.ts';
import type { IdHour } from '../counting/id-hours.ts';
import { type Claims, createSeriesSlots } from '../counting/series-slots.ts';
import { type Cell, type JobFacts, type Totals, toCellKey, toJobKey } from '../counting/totals.ts';
import { planDocuments, readContents } from './ledger-documents.ts';
import type { ProjectState } from './project-state.ts';
import { type RecentRun, toNewest } from './recent-runs.ts';
import type { SlowClock } from './slow-clocks.ts';

/** Facts about the executions of a server as a whole. */
export type LedgerFacts = {
  /** The number of times that ids started again. */
  readonly epoch: number;
  readonly epochStartedAtMs: number;
  /** One-time runs that were seen waiting, by their ids, until they are over. */
  readonly oneTimeIds?: readonly number[] | undefined;
  /** The server's time at the last list of its projects: what is new in the next one began since. */
  readonly listedAtMs?: number | undefined;
  /** After a restored copy: up to when all has to be read before anything is shown. */
  readonly gapUntilMs?: number | undefined;
  /** The times that never were, because the server's clock was set ahead last: late ends may be dated before them. */
  readonly leap?: Window | undefined;
  /** The server's clock minus ours, as it was when it last changed. */
  readonly skewMs?: number | undefined;
  /** How far clocks were behind that were seen to be more than a day behind, and when. */
  readonly slowClocks?: readonly SlowClock[] | undefined;
  /** How far a clock had come that was more than a day ahead. */
  readonly reachedMs?: number | undefined;
  /** The bounds that the buckets of durations were counted by. */
  readonly buckets?: readonly number[] | undefined;
};

export type LedgerChange = {
  readonly facts?: LedgerFacts;
  readonly states?: readonly ProjectState[];
  readonly entries?: readonly LedgerEntry[];
  readonly cells?: readonly Cell[];
  readonly jobs?: readonly JobFacts[];
  /** The slots that these cells and jobs take. */
  readonly claims?: Claims;
  readonly idHours?: readonly IdHour[];
  /** The later of the server's time and ours: hours after it are forgotten where others change. */
  readonly latestMs?: number;
  /** True if the hours before are of ids that are no longer given. */
  readonly hasNewEpoch?: boolean;
  readonly recent?: readonly RecentRun[];
  /** Documents that others keep about the same executions. */
  readonly alongside?: readonly LedgerDocument[];
  readonly prune?: { readonly project: string; readonly endedBeforeMs: number };
  /** A project to forget. */
  readonly forget?: string;
  /** Jobs to forget, by their keys. */
  readonly forgetJobs?: readonly string[];
};

/** The contents of the ledger, in memory: changed only by committed changes. */
export type LedgerCache = {
  readonly totals: Totals;
  readonly states: ReadonlyMap<string, ProjectState>;
  readonly idHours: ReadonlyMap<number, IdHour>;
  readonly facts: () => LedgerFacts;
  /** The newest ends first. */
  readonly recent: () => readonly RecentRun[];
  /** Makes one change at a time: each starts from the result of the previous one, and is shown after its commit. */
  readonly update: (make: () => Promise<LedgerChange | undefined>) => Promise<void>;
};

export async function openLedgerCache(ledger: Ledger, server: string): Promise<LedgerCache> {
  const contents = readContents(await ledger.load(server));
  const { cells, jobs, states, idHours } = contents;
  const totals: Totals = { cells, jobs, slots: createSeriesSlots(cells.values(), jobs) };
  let recent = toNewest(contents.sheets);
  let last: Promise<void> = Promise.resolve();

  async function commit(change: LedgerChange): Promise<void> {
    const { documents, sheets, goneCells, goneHours } = planDocuments(change, contents, recent);
    const { entries = [], prune } = change;
    await ledger.commit(server, { entries, documents, ...(prune === undefined ? {} : { prune }) });
    apply(change);
    for (const key of goneCells) cells.delete(key);
    for (const hour of goneHours) idHours.delete(hour);
    if (sheets === contents.sheets) return;
    contents.sheets = sheets;
    recent = toNewest(sheets);
  }

  function apply(change: LedgerChange): void {
    contents.facts = change.facts ?? contents.facts;
    for (const state of change.states ?? []) states.set(state.project, state);
    for (const cell of change.cells ?? []) cells.set(toCellKey(cell.kind, cell.labels), cell);
    if (change.claims !== undefined) totals.slots.settle(change.claims);
    for (const job of change.jobs ?? []) putJob(job);
    for (const key of change.forgetJobs ?? []) {
      jobs.delete(key);
      totals.slots.forgetJob(key);
    }
    if (change.forget !== undefined) drop(change.forget);
    if (change.hasNewEpoch === true) idHours.clear();
    for (const hour of change.idHours ?? []) idHours.set(hour.hour, hour);
  }

  function putJob(job: JobFacts): void {
    const key = toJobKey(job.project, job.group, job.name);
    jobs.set(key, job);
    if (job.leftOut === 'all') totals.slots.leave('jobs', key);
    if (job.leftOut !== undefined) totals.slots.leave('durations', key);
  }

  function drop(project: string): void {
    states.delete(project);
    for (const [key, { labels }] of cells) if (labels[0] === project) cells.delete(key);
    for (const [key, job] of jobs) if (job.project === project) jobs.delete(key);
    totals.slots.forget(project);
  }

  return {
    totals,
    states,
    idHours,
    facts: () => contents.facts,
    recent: () => recent,
    update: (make) => {
      const next = last.then(async () => {
        const change = await make();
        if (change !== undefined) await commit(change);
      });
      // A failed change has changed nothing; the next one starts from the same state.
      last = next.catch(() => undefined);
      return next;
    },
  };
}
