import type { Window } from '../../api/paging.ts';
import { isPlausibleTime } from '../../domain/time.ts';
import type { LedgerDocument, LedgerEntry } from '../../state/ledger.ts';
import { type IdHour, toForgottenHours } from '../counting/id-hours.ts';
import type { Claims } from '../counting/series-slots.ts';
import { type Cell, isOfJob, type JobFacts, toCellKey, toJobKey } from '../counting/totals.ts';
import type { ProjectState } from './project-state.ts';
import { addRecent, type RecentRun, type RecentSheets } from './recent-runs.ts';

/** A clock that is more than a day behind: what runs by it looks like an import. That it was seen is written once a day. */
export type SlowClock = { readonly byMs: number; readonly seenAtMs: number };

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

/** The documents of a server's ledger, by kind and key. */
export type Contents = {
  readonly facts: LedgerFacts;
  readonly cells: ReadonlyMap<string, Cell>;
  readonly jobs: ReadonlyMap<string, JobFacts>;
  readonly states: ReadonlyMap<string, ProjectState>;
  readonly idHours: ReadonlyMap<number, IdHour>;
  readonly sheets: RecentSheets;
};

export function readContents(documents: readonly LedgerDocument[]) {
  const [facts = { epoch: 1, epochStartedAtMs: 0 }] = read<LedgerFacts>(documents, 'server').map(toWholeTimes);
  const jobs = read<JobFacts>(documents, 'job').filter(({ lastEndMs }) => isPlausibleTime(lastEndMs));
  return {
    facts,
    cells: new Map(read<Cell>(documents, 'cell').map((cell) => [toCellKey(cell.kind, cell.labels), cell])),
    jobs: new Map(jobs.map((job) => [toJobKey(job.project, job.group, job.name), job])),
    states: new Map(read<ProjectState>(documents, 'project').map((state) => [state.project, toWholeTimes(state)])),
    idHours: new Map(read<IdHour>(documents, 'id-hour').map((hour) => [hour.hour, hour])),
    sheets: toSheets(documents),
  } satisfies Contents;
}

/** A change as documents, and what it removes beside them. */
export type PlannedDocuments = {
  readonly documents: readonly LedgerDocument[];
  readonly sheets: RecentSheets;
  readonly goneCells: readonly string[];
  readonly goneHours: readonly number[];
};

/** Plans the documents that a change writes and forgets. */
export function planDocuments(
  change: LedgerChange,
  contents: Contents,
  recent: readonly RecentRun[],
): PlannedDocuments {
  const { idHours } = contents;
  const added = addRecent(contents.sheets, recent, change.recent ?? []);
  const { latestMs = Number.POSITIVE_INFINITY } = change;
  const goneHours = (change.idHours ?? []).length === 0 ? [] : toForgottenHours(idHours, maxIdHours, latestMs);
  const goneCells = findCells(contents, change.forgetJobs ?? []);
  const documents: readonly LedgerDocument[] = [
    ...(change.facts === undefined ? [] : [toDocument('server', '', change.facts)]),
    ...put('project', change.states, (state) => state.project),
    ...put('cell', change.cells, (cell) => toCellKey(cell.kind, cell.labels)),
    ...put('job', change.jobs, (job) => toJobKey(job.project, job.group, job.name)),
    ...(change.hasNewEpoch === true ? [...idHours.keys()].map((hour) => forget('id-hour', String(hour))) : []),
    ...put('id-hour', change.idHours, ({ hour }) => String(hour)),
    ...added.written.map((key) => toDocument('recent', key, added.sheets.get(key))),
    ...added.forgotten.map((key) => forget('recent', key)),
    ...(change.alongside ?? []),
    ...goneCells.map((key) => forget('cell', key)),
    ...(change.forgetJobs ?? []).map((key) => forget('job', key)),
    ...forgetProject(contents, change.forget),
    ...goneHours.map((hour) => forget('id-hour', String(hour))),
  ];
  return { documents, sheets: added.sheets, goneCells, goneHours };
}

/** Hours in which something started: about three months of them. */
const maxIdHours = 2000;

function forgetProject({ cells, jobs }: Contents, project: string | undefined): LedgerDocument[] {
  if (project === undefined) return [];
  return [
    forget('project', project),
    ...[...cells].flatMap(([key, { labels }]) => (labels[0] === project ? [forget('cell', key)] : [])),
    ...[...jobs].flatMap(([key, job]) => (job.project === project ? [forget('job', key)] : [])),
  ];
}

function findCells({ cells }: Contents, jobKeys: readonly string[]): string[] {
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
