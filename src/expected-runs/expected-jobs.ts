import type { Job } from '../api/endpoints/jobs.ts';
import type { Clock } from '../domain/clock.ts';
import type { CommitHook, Ledger } from '../state/ledger.ts';
import { addToHours, type HourOfTimes, hourMs } from './deciding/hours.ts';
import { findLongGone, type Note, planGone, planListed } from './deciding/listed-jobs.ts';
import { noteAnswer } from './deciding/notes.ts';
import { addVerdicts, type Tallies, type Tally, toFirstTallies, toTallyKey } from './deciding/tally.ts';
import type { Answer } from './deciding/timetable.ts';
import { isSwitched, type Judged, type Unread, undecidedTimes, type WatchedJob } from './deciding/watched-job.ts';
import {
  keptKinds,
  readKept,
  toForgottenJob,
  toForgottenTally,
  toHoursDocument,
  toJobDocument,
  toSourceDocument,
  toTallyDocument,
} from './documents.ts';
import type { ExecutionsPort } from './executions-port.ts';
import { type FailingNodes, listSettled } from './risks/nodes.ts';
import { createKeptNodes, createRunNotes } from './run-notes.ts';
import type { ExpectedRunsSettings } from './settings.ts';
import type { SourceNotes } from './sources.ts';

export type ExpectedJobs = {
  readonly all: ReadonlyMap<string, WatchedJob>;
  readonly tallies: ReadonlyMap<string, Tally>;
  /**
   * Returns the failing nodes whose first failure is at least a minute old, or at least one interval old if the interval is
   * shorter.
   */
  readonly failingNodes: () => FailingNodes;
  readonly hours: () => readonly HourOfTimes[];
  /** Loads the stored state. The function may be called again after an error. */
  readonly open: () => Promise<void>;
  /** Records the runs of a transaction of the ledger in the same transaction. */
  readonly commitHook: CommitHook;
  readonly change: (make: () => readonly Judged[]) => Promise<void>;
  /** Adds the jobs of a new project list, and adds the ids of changed jobs to `changed`. */
  readonly list: (list: JobList, changed: Set<string>) => Promise<void>;
  readonly leaveOut: (project: string, sinceMs: number) => Promise<void>;
  /** Merges responses into their jobs. `doubtMs` is the difference between the clocks of the members. */
  readonly answer: (answered: ReadonlyMap<string, Answered>, doubtMs: number) => Promise<void>;
  /** Marks tallies that have been published as 0 for long enough. */
  readonly release: (keys: readonly string[]) => Promise<void>;
  /** Removes jobs that were deleted long ago, and their tallies. */
  readonly forgetGone: (nowMs: number) => Promise<void>;
};

type JobList = { readonly project: string; readonly listed: readonly Job[]; readonly atMs: number };

/** The results of requests about one job, oldest first. */
export type Answered = {
  readonly answers: readonly Answer[];
  /** The failed requests; undefined if the last request succeeded. */
  readonly unread?: Omit<Unread, 'count'>;
  readonly limit?: NonNullable<WatchedJob['limit']>;
};

const maxSettlingMs = 60_000;

type Options = {
  readonly everyMs: number;
  readonly server: string;
  readonly ledger: Pick<Ledger, 'load' | 'countEnds'>;
  readonly port: Pick<ExecutionsPort, 'commit'>;
  readonly notes: SourceNotes;
  readonly settings: Pick<ExpectedRunsSettings, 'buckets' | 'maxJobs'>;
  readonly clock: Pick<Clock, 'now' | 'nextTurn'>;
};

/** Stores the scheduled jobs of a server. A change is visible only after its commit. */
export function createExpectedJobs(options: Options): ExpectedJobs {
  const { port, notes, settings } = options;
  const all = new Map<string, WatchedJob>();
  const tallies = new Map<string, Tally>();
  const nodes = createKeptNodes();
  const noted = { throughMs: 0 };
  let hours: readonly HourOfTimes[] = [];
  let opened: Promise<void> | undefined;
  /** Jobs that are watched anew. The next transaction stores these jobs. */
  let begun: readonly Judged[] = [];

  async function load(): Promise<void> {
    const kept = await readAll(options);
    for (const [key, tally] of kept.tallies) tallies.set(key, tally);
    nodes.load(kept);
    hours = kept.hours;
    noted.throughMs = kept.notedThroughMs ?? 0;
    for (const { job } of kept.judged) all.set(job.id, job);
    begun = kept.isUnnoted ? kept.judged : [];
  }

  async function commit(make: () => Made): Promise<void> {
    const made: { -readonly [Part in keyof Made]: Made[Part] } = { jobs: [], tallies: [] };
    await port.commit(() => {
      Object.assign(made, beginNow(make(), tallies, options));
      const sources = notes.takeChanged().map((key) => toSourceDocument(key, notes.all().get(key) ?? []));
      return [...toDocuments(made, all), ...sources, ...nodes.toForgotten()];
    });
    nodes.settle();
    hours = made.hours ?? hours;
    for (const job of made.jobs) all.set(job.id, job);
    for (const tally of made.tallies) tallies.set(toTallyKey(tally), tally);
  }

  async function change(make: () => readonly Judged[]): Promise<void> {
    const before = { tallies, hours: toPast(hours, notes.serverNowMs()) };
    await commit(() => toMade(before, [...asNow(begun, all), ...make()], settings.buckets));
    begun = [];
  }

  const known = { all, change, nextTurn: options.clock.nextTurn };
  return {
    all,
    tallies,
    failingNodes: () => listSettled(nodes.all, notes.serverNowMs() - Math.min(options.everyMs, maxSettlingMs)),
    hours: () => hours,
    open: () => {
      opened ??= load().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    commitHook: createRunNotes({ ...notes, all, nodes: nodes.all, noted, isBeginning: () => begun.length > 0 }),
    change,
    list: async (list, changed) => {
      // Decoding the list has already blocked the event loop for long enough.
      if (list.listed.length > notesPerPiece) await options.clock.nextTurn();
      await changeInPieces(known, planListed(all, { ...list, maxJobs: settings.maxJobs }), changed);
    },
    leaveOut: (project, sinceMs) =>
      changeInPieces(
        known,
        planGone(all, (job) => job.project === project, sinceMs),
      ),
    answer: (answered, doubtMs) =>
      change(() =>
        [...answered].flatMap(([id, each]) => findAll(all, [id]).map((job) => noteAnswered(job, each, doubtMs))),
      ),
    release: (keys) =>
      commit(() => ({ jobs: [], tallies: findAll(tallies, keys).map((tally) => ({ ...tally, isReleased: true })) })),
    forgetGone: (nowMs) => forgetLongGone({ all, tallies }, options, nowMs),
  };
}

type Changing = Pick<ExpectedJobs, 'all' | 'change'> & Pick<Clock, 'nextTurn'>;

/** Changes jobs in pieces, each in its own transaction, so that changes of one piece stay if the next piece fails. */
async function changeInPieces(
  { all, change, nextTurn }: Changing,
  notes: readonly Note[],
  changed?: Set<string>,
): Promise<void> {
  for (let from = 0; from < notes.length || from === 0; from += notesPerPiece) {
    if (from > 0) await nextTurn();
    let ids: readonly string[] = [];
    await change(() => {
      const judged = notes.slice(from, from + notesPerPiece).flatMap((note) => note());
      ids = judged.flatMap(({ job }) => (isChanged(all.get(job.id), job) ? job.id : []));
      return judged;
    });
    for (const id of ids) changed?.add(id);
  }
}

/** The number of notes in a piece; each note is about one job. A piece takes a few milliseconds. */
const notesPerPiece = 250;

type Gone = { readonly all: Map<string, WatchedJob>; readonly tallies: Map<string, Tally> };

async function forgetLongGone({ all, tallies }: Gone, { port, settings }: Options, nowMs: number): Promise<void> {
  const { ids, keys } = findLongGone({ all, tallies, nowMs, maxJobs: settings.maxJobs });
  if (ids.length === 0) return;
  await port.commit(() => [...ids.map(toForgottenJob), ...keys.map(toForgottenTally)]);
  for (const id of ids) all.delete(id);
  for (const key of keys) tallies.delete(key);
}

function findAll<Value>(known: ReadonlyMap<string, Value>, keys: Iterable<string>): readonly Value[] {
  return [...keys].flatMap((key) => known.get(key) ?? []);
}

type Known = { readonly tallies: Tallies; readonly hours: readonly HourOfTimes[] };

function noteAnswered(before: WatchedJob, { answers, unread, limit }: Answered, doubtMs: number): Judged {
  let job = before;
  const verdicts = answers.flatMap((answer) => {
    const judged = noteAnswer(job, answer, doubtMs);
    ({ job } = judged);
    return judged.verdicts;
  });
  const count = (before.unread?.count ?? 0) + 1;
  const noted = unread === undefined ? {} : { unread: { ...unread, count } };
  return { job: { ...job, ...noted, ...(limit === undefined ? {} : { limit }) }, verdicts };
}

/** Removes hours that are in the future because a clock was set back. */
function toPast(hours: readonly HourOfTimes[], nowMs: number): readonly HourOfTimes[] {
  return hours.filter(({ startMs }) => startMs <= nowMs + hourMs);
}

/** Sets the start of new tallies to the current time. */
function beginNow(made: Made, known: Tallies, { clock }: Options): Made {
  const startSeconds = Math.floor(clock.now() / 1000);
  const tallies = made.tallies.map((tally) => (known.has(toTallyKey(tally)) ? tally : { ...tally, startSeconds }));
  return { ...made, tallies };
}

function toMade({ tallies, hours }: Known, judged: readonly Judged[], bounds: readonly number[]): Made {
  const isDecided = judged.some(({ verdicts }) => verdicts.length > 0);
  const jobs = judged.map(({ job }) => job);
  const added = addVerdicts(tallies, judged, bounds);
  const keys = new Set(added.map(toTallyKey));
  const first = jobs.flatMap((job) => toFirstTallies(tallies, job)).filter((tally) => !keys.has(toTallyKey(tally)));
  return { jobs, tallies: [...added, ...first], hours: isDecided ? addToHours(hours, judged) : undefined };
}

type Made = {
  readonly jobs: readonly WatchedJob[];
  readonly tallies: readonly Tally[];
  readonly hours?: readonly HourOfTimes[] | undefined;
};

/** Loads the stored state. If runs were counted but not recorded here, all jobs are watched anew. */
async function readAll(options: Options) {
  const { server, ledger, notes } = options;
  const kept = readKept(await ledger.load(server, keptKinds));
  notes.restore(kept.sources);
  const isUnnoted = await hasUnnoted(options, kept.notedThroughMs, kept.jobs);
  const nowMs = notes.serverNowMs();
  const judged = [...kept.jobs.values()].map((job) => (isUnnoted ? beginAgain(job, nowMs) : { job, verdicts: [] }));
  return { ...kept, isUnnoted, judged };
}

/** Reports whether runs were counted while the schedule watch was off. If so, the runs for undecided times are unknown. */
async function hasUnnoted(
  { server, ledger }: Options,
  throughMs: number | undefined,
  jobs: ReadonlyMap<string, WatchedJob>,
): Promise<boolean> {
  if (jobs.size === 0) return false;
  const projects = [...new Set([...jobs.values()].map(({ project }) => project))];
  const beginMs = throughMs === undefined ? 0 : throughMs + 1;
  return (await ledger.countEnds(server, { projects, beginMs, endMs: Number.MAX_SAFE_INTEGER })) > 0;
}

/** Applies the runs that were recorded after the jobs were decided. */
function asNow(judged: readonly Judged[], all: ReadonlyMap<string, WatchedJob>): Judged[] {
  return judged.map(({ job, verdicts }) => ({ job: all.get(job.id) ?? job, verdicts }));
}

function beginAgain(job: WatchedJob, nowMs: number): Judged {
  const { timetable: _times, held: _held, ...rest } = job;
  const times = job.goneAtMs === undefined ? undecidedTimes(job).filter((time) => time <= nowMs) : [];
  return {
    job: { ...rest, sinceMs: nowMs, decidedMs: nowMs, runs: [] },
    verdicts: times.map((expectedMs) => ({ is: 'undecided', expectedMs, why: 'unread' })),
  };
}

function toDocuments({ jobs, tallies, hours }: Made, all: ReadonlyMap<string, WatchedJob>) {
  const written = jobs.filter((job) => !isOnlyListed(all.get(job.id), job));
  const changedHours = hours === undefined ? [] : [toHoursDocument(hours)];
  return [...written.map(toJobDocument), ...tallies.map(toTallyDocument), ...changedHours];
}

/** Reports whether `listedAtMs` is the only change of a job. A change of `listedAtMs` alone is not stored each minute. */
function isOnlyListed(before: WatchedJob | undefined, job: WatchedJob): boolean {
  if (before === undefined) return false;
  // This cast is safe: a job has only the fields of its type. A deep comparison of thousands of jobs would take too long.
  const names = Object.keys(job) as (keyof WatchedJob)[];
  if (names.length !== Object.keys(before).length) return false;
  return names.every((name) => name === 'listedAtMs' || job[name] === before[name]);
}

/** Reports whether a list shows a change that may affect the times of the job. */
function isChanged(before: WatchedJob | undefined, job: WatchedJob): boolean {
  if (before === undefined) return false;
  const isSame = before.lastModifiedMs === job.lastModifiedMs && before.goneAtMs === undefined;
  return !isSame || isSwitched(before, job);
}
