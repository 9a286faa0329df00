import type { Window } from '../../api/paging.ts';
import { toCompact } from '../../domain/durations/drift.ts';
import type { JobFacts } from '../../domain/job.ts';
import { isPlausibleTime } from '../../domain/time.ts';
import type { LedgerDocument, LedgerEntry, RestoredMark } from '../../state/ledger.ts';
import type { SpooledTrace } from '../../state/spool.ts';
import { type IdHour, toForgottenHours } from '../counting/id-hours.ts';
import type { Claims } from '../counting/series-slots.ts';
import { type Cell, isOfJob, toCellKey, toJobKey } from '../counting/totals.ts';
import type { ProjectState } from './project-state.ts';
import { addRecent, type RecentRun, type RecentSheets } from './recent-runs.ts';

/** How far a clock is behind: more than a day, so that its runs look like imports. `seenAtMs` is written once a day. */
export type SlowClock = { readonly byMs: number; readonly seenAtMs: number };

export type LedgerFacts = {
  readonly epoch: number;
  readonly epochStartedAtMs: number;
  /**
   * The latest start of a run of earlier epochs; later than `epochStartedAtMs` after the clock was set back. Absent in
   * the first epoch.
   */
  readonly formerThroughMs?: number | undefined;
  /** The latest start of a run that did not count, for example of an excluded job. */
  readonly uncountedThroughMs?: number | undefined;
  /** The greatest id of the previous epoch. Greater ids belong to the current epoch, whenever their runs started. */
  readonly formerThroughId?: number | undefined;
  /** The ids of one-time runs that are waiting or running. */
  readonly oneTimeIds?: readonly number[] | undefined;
  /** The server time of the last project list. A project that is new in the next list was created after the last list. */
  readonly listedAtMs?: number | undefined;
  /** The start of counting: executions that ended earlier are not counted; absent in states of earlier releases. */
  readonly countedSinceMs?: number | undefined;
  /** The end of the restore gap: nothing is published before all executions up to this time have been read. */
  readonly gapUntilMs?: number | undefined;
  /** The span that the server clock skipped when it was last set ahead. Late executions may have dates before the span. */
  readonly leap?: Window | undefined;
  readonly skewMs?: number | undefined;
  readonly slowClocks?: readonly SlowClock[] | undefined;
  /** The time that the server clock has reached, if it was more than a day ahead. */
  readonly reachedMs?: number | undefined;
  readonly buckets?: readonly number[] | undefined;
  /** The time at which native histograms of durations began. */
  readonly nativeSeconds?: number | undefined;
};

export type LedgerChange = {
  readonly facts?: LedgerFacts;
  readonly states?: readonly ProjectState[];
  readonly entries?: readonly LedgerEntry[];
  readonly cells?: readonly Cell[];
  readonly jobs?: readonly JobFacts[];
  /** The series slots for the cells and jobs of the change. */
  readonly claims?: Claims;
  readonly idHours?: readonly IdHour[];
  /** The later of the server time and the exporter's time. A change of the hours removes all later hours. */
  readonly latestMs?: number;
  /** True if the stored hours belong to a previous epoch. */
  readonly hasNewEpoch?: boolean;
  readonly recent?: readonly RecentRun[];
  /** Documents of other rooms about the same executions. */
  readonly alongside?: readonly LedgerDocument[];
  readonly spooled?: readonly SpooledTrace[];
  readonly prune?: { readonly project: string; readonly endedBeforeMs: number };
  readonly forget?: string;
  readonly forgetJobs?: readonly string[];
};

/** The mark of a server that has lost its last commits. */
export const restored: RestoredMark = { kind: 'restored', key: 'executions' };

type Contents = {
  readonly facts: LedgerFacts;
  readonly cells: ReadonlyMap<string, Cell>;
  readonly jobs: ReadonlyMap<string, JobFacts>;
  readonly states: ReadonlyMap<string, ProjectState>;
  readonly idHours: ReadonlyMap<number, IdHour>;
  readonly sheets: RecentSheets;
};

export function readContents(documents: readonly LedgerDocument[]) {
  const [stored = { epoch: 1, epochStartedAtMs: 0 }] = read<LedgerFacts>(documents, 'server').map(toWholeTimes);
  // Earlier releases stored only the start of the epoch, which moves when the clock is set back.
  const facts = stored.epoch > 1 ? { formerThroughMs: stored.epochStartedAtMs - 1, ...stored } : stored;
  const jobs = read<JobFacts>(documents, 'job')
    .filter(({ lastEndMs }) => isPlausibleTime(lastEndMs))
    .map((job) => (job.drift === undefined ? job : { ...job, drift: toCompact(job.drift) }));
  return {
    facts,
    cells: new Map(read<Cell>(documents, 'cell').map((cell) => [toCellKey(cell.kind, cell.labels), cell])),
    jobs: new Map(jobs.map((job) => [toJobKey(job.project, job.group, job.name), job])),
    states: new Map(read<ProjectState>(documents, 'project').map((state) => [state.project, toWholeTimes(state)])),
    idHours: new Map(read<IdHour>(documents, 'id-hour').map((hour) => [hour.hour, hour])),
    sheets: toSheets(documents),
  } satisfies Contents;
}

type PlannedDocuments = {
  readonly documents: readonly LedgerDocument[];
  readonly sheets: RecentSheets;
  readonly goneCells: readonly string[];
  readonly goneHours: readonly number[];
};

export function planDocuments(change: LedgerChange, contents: Contents): PlannedDocuments {
  const { idHours } = contents;
  const { latestMs = Number.POSITIVE_INFINITY } = change;
  const added = addRecent(contents.sheets, change.recent ?? [], latestMs);
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

/** The maximum number of hours for which ids are stored: about twelve weeks if runs start in every hour. */
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
  // This cast is safe: only this file writes these documents.
  return documents.flatMap((document) => (document.kind === kind ? [JSON.parse(document.body ?? '') as Body] : []));
}

/** Rounds times to whole milliseconds. Earlier releases stored fractions, which servers refuse (400). */
function toWholeTimes<Body extends object>(body: Body): Body {
  const whole = Object.entries(body).map(([name, value]: [string, unknown]) => [
    name,
    name.endsWith('Ms') && typeof value === 'number' ? Math.floor(value) : value,
  ]);
  // This cast is safe: no field changes its type.
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

/** Reads recent runs. Earlier releases stored each run in a document of its own. */
function toSheets(documents: readonly LedgerDocument[]): RecentSheets {
  const sheets = new Map<string, readonly RecentRun[]>();
  for (const { kind, key, body } of documents) {
    if (kind !== 'recent') continue;
    // This cast is safe: only this file writes these documents.
    const runs = JSON.parse(body ?? '[]') as RecentRun | readonly RecentRun[];
    // Earlier releases stored times outside the range of dates.
    const sound = [runs].flat().filter((run) => isPlausibleTime(run.startedAtMs) && isPlausibleTime(run.endedAtMs));
    sheets.set(key, sound);
  }
  return sheets;
}
