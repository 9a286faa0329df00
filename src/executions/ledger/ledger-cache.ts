import { isPlausibleTime } from '../../domain/time.ts';
import type { Ledger, LedgerDocument, LedgerEntry } from '../../state/ledger.ts';
import { type IdHour, toForgottenHours } from '../counting/id-hours.ts';
import { type Claims, createSeriesSlots } from '../counting/series-slots.ts';
import { type Cell, isOfJob, type JobFacts, type Totals, toCellKey, toJobKey } from '../counting/totals.ts';
import type { ProjectState } from './project-state.ts';
import { addRecent, type RecentRun, type RecentSheets, toNewest } from './recent-runs.ts';

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
  /** True if the hours before are of ids that are no longer given. */
  readonly hasNewEpoch?: boolean;
  readonly recent?: readonly RecentRun[];
  /** Documents that others keep about the same executions. */
  readonly alongside?: readonly LedgerDocument[];
  readonly prune?: { readonly project: string; readonly endedBeforeMs: number };
  /** A project of which nothing is to be known any longer. */
  readonly forget?: string;
  /** Jobs of which nothing is to be known any longer, by their keys. */
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

/** Hours in which something started: about three months of them. */
const mostIdHours = 2000;

export async function openLedgerCache(ledger: Ledger, server: string): Promise<LedgerCache> {
  const documents = await ledger.load(server);
  const cells = new Map(read<Cell>(documents, 'cell').map((cell) => [toCellKey(cell.kind, cell.labels), cell]));
  const jobs = new Map(
    read<JobFacts>(documents, 'job')
      .filter(({ lastEndMs }) => isPlausibleTime(lastEndMs))
      .map((job) => [toJobKey(job.project, job.group, job.name), job]),
  );
  const states = new Map(read<ProjectState>(documents, 'project').map((state) => [state.project, toWholeTimes(state)]));
  const idHours = new Map(read<IdHour>(documents, 'id-hour').map((hour) => [hour.hour, hour]));
  let sheets: RecentSheets = toSheets(documents);
  let recent = toNewest(sheets);
  let [facts = { epoch: 1, epochStartedAtMs: 0 }] = read<LedgerFacts>(documents, 'server').map(toWholeTimes);
  const totals: Totals = { cells, jobs, slots: createSeriesSlots(cells.values(), jobs) };
  let last: Promise<void> = Promise.resolve();

  async function commit(change: LedgerChange): Promise<void> {
    const added = addRecent(sheets, recent, change.recent ?? []);
    const oldHours = (change.idHours ?? []).length === 0 ? [] : toForgottenHours(idHours, mostIdHours);
    const documentsToPut: LedgerDocument[] = [
      ...(change.facts === undefined ? [] : [toDocument('server', '', change.facts)]),
      ...put('project', change.states, (state) => state.project),
      ...put('cell', change.cells, (cell) => toCellKey(cell.kind, cell.labels)),
      ...put('job', change.jobs, (job) => toJobKey(job.project, job.group, job.name)),
      ...(change.hasNewEpoch === true ? [...idHours.keys()].map((hour) => forget('id-hour', String(hour))) : []),
      ...put('id-hour', change.idHours, ({ hour }) => String(hour)),
      ...added.written.map((key) => toDocument('recent', key, added.sheets.get(key))),
      ...added.forgotten.map((key) => forget('recent', key)),
      ...(change.alongside ?? []),
    ];
    const gone = findCells(change.forgetJobs ?? []);
    documentsToPut.push(...gone.map((key) => forget('cell', key)));
    documentsToPut.push(...(change.forgetJobs ?? []).map((key) => forget('job', key)));
    const { entries = [], prune } = change;
    documentsToPut.push(...toForgotten(change.forget), ...oldHours.map((hour) => forget('id-hour', String(hour))));
    await ledger.commit(server, { entries, documents: documentsToPut, ...(prune === undefined ? {} : { prune }) });
    apply(change);
    for (const key of gone) cells.delete(key);
    for (const hour of oldHours) idHours.delete(hour);
    if (added.sheets === sheets) return;
    sheets = added.sheets;
    recent = toNewest(sheets);
  }

  function toForgotten(project: string | undefined): LedgerDocument[] {
    if (project === undefined) return [];
    return [
      forget('project', project),
      ...[...cells].flatMap(([key, { labels }]) => (labels[0] === project ? [forget('cell', key)] : [])),
      ...[...jobs].flatMap(([key, job]) => (job.project === project ? [forget('job', key)] : [])),
    ];
  }

  function findCells(jobKeys: readonly string[]): string[] {
    const wanted = new Set(jobKeys);
    if (wanted.size === 0) return [];
    return [...cells].flatMap(
      ([
        key,
        {
          kind,
          labels: [project = '', group = '', name = ''],
        },
      ]) => (isOfJob(kind) && wanted.has(toJobKey(project, group, name)) ? [key] : []),
    );
  }

  function drop(project: string): void {
    states.delete(project);
    for (const [key, { labels }] of cells) if (labels[0] === project) cells.delete(key);
    for (const [key, job] of jobs) if (job.project === project) jobs.delete(key);
    totals.slots.forget(project);
  }

  function apply(change: LedgerChange): void {
    facts = change.facts ?? facts;
    for (const state of change.states ?? []) states.set(state.project, state);
    for (const cell of change.cells ?? []) cells.set(toCellKey(cell.kind, cell.labels), cell);
    if (change.claims !== undefined) totals.slots.settle(change.claims);
    for (const job of change.jobs ?? []) {
      const key = toJobKey(job.project, job.group, job.name);
      jobs.set(key, job);
      if (job.leftOut === 'all') totals.slots.leave('jobs', key);
      if (job.leftOut !== undefined) totals.slots.leave('durations', key);
    }
    for (const key of change.forgetJobs ?? []) {
      jobs.delete(key);
      totals.slots.forgetJob(key);
    }
    if (change.forget !== undefined) drop(change.forget);
    if (change.hasNewEpoch === true) idHours.clear();
    for (const hour of change.idHours ?? []) idHours.set(hour.hour, hour);
  }

  return {
    totals,
    states,
    idHours,
    facts: () => facts,
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

type Kind = 'server' | 'project' | 'cell' | 'job' | 'id-hour' | 'recent';

function read<Body>(documents: readonly LedgerDocument[], kind: Kind): Body[] {
  // The cast is true: only this file writes these documents.
  return documents.flatMap((document) => (document.kind === kind ? [JSON.parse(document.body ?? '') as Body] : []));
}

/** Fractions of a millisecond that earlier versions kept: servers answer a window of such times with 400. */
function toWholeTimes<Body extends object>(body: Body): Body {
  const whole = Object.entries(body).map(([name, value]: [string, unknown]) => [
    name,
    name.endsWith('Ms') && typeof value === 'number' ? Math.floor(value) : value,
  ]);
  // The cast is true: no field changes its type.
  return Object.fromEntries(whole) as Body;
}

function put<Body>(kind: Kind, bodies: Iterable<Body> | undefined, toKey: (body: Body) => string): LedgerDocument[] {
  return [...(bodies ?? [])].map((body) => toDocument(kind, toKey(body), body));
}

function toDocument(kind: Kind, key: string, body: unknown): LedgerDocument {
  return { kind, key, body: JSON.stringify(body) };
}

function forget(kind: Kind, key: string): LedgerDocument {
  return { kind, key, body: undefined };
}

/** Before there were sheets each run had a document of its own. */
function toSheets(documents: readonly LedgerDocument[]): RecentSheets {
  const sheets = new Map<string, readonly RecentRun[]>();
  for (const { kind, key, body } of documents) {
    if (kind !== 'recent') continue;
    // The cast is true: only this file writes these documents.
    const runs = JSON.parse(body ?? '[]') as RecentRun | readonly RecentRun[];
    // Earlier releases kept times that no date can show.
    const sound = [runs].flat().filter((run) => isPlausibleTime(run.startedAtMs) && isPlausibleTime(run.endedAtMs));
    sheets.set(key, sound);
  }
  return sheets;
}
