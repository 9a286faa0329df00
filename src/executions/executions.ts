import type { ErrorKind } from '../api/errors.ts';
import type { Clock } from '../domain/clock.ts';
import type { Execution } from '../domain/execution.ts';
import type { JobFacts } from '../domain/job.ts';
import type { LedgerDocument } from '../state/ledger.ts';
import type { SpooledTrace } from '../state/spool.ts';
import { toTypicalDuration } from './counting/job-facts.ts';
import { toJobKey } from './counting/totals.ts';
import { createImportsSince, type ImportsSince } from './ledger/count-executions.ts';
import type { LedgerCache } from './ledger/ledger-cache.ts';
import type { ProjectState } from './ledger/project-state.ts';
import type { RecentRun } from './ledger/recent-runs.ts';
import { type OpenRound, openRound } from './open-round.ts';
import type { ExecutionsOptions } from './options.ts';
import { createActivities } from './reading/activities.ts';
import { createActivityHint } from './reading/activity-hint.ts';
import type { LearnJobs } from './reading/job-lists.ts';
import { createNarrowing } from './reading/narrowing.ts';
import { createReadNotes } from './reading/read-notes.ts';
import { createRoundFaults, type RoundFaults } from './reading/round-faults.ts';
import { createRunningReader } from './reading/running-reader.ts';
import { createVisibility, type Sight } from './reading/visibility.ts';
import { createWatchedProjects } from './reading/watched-projects.ts';
import { createOddRows } from './reading/window-reader.ts';
import { joinLastRead, playRound, type ReadNow, type RoundNow, type RoundTools, toSeen } from './round.ts';
import type { LeftOut } from './series/fit-series.ts';
import { createShow, toLagSeconds, toNote } from './series/show.ts';
import { isOfShown } from './series/total-rows.ts';
import { createTracePort, type TracePort } from './trace-port.ts';

type Outcome =
  | {
      readonly result: 'success';
      readonly series: number;
      readonly complaints?: readonly string[];
      /** Describes the work that a round left for later rounds. */
      readonly note?: string;
    }
  | { readonly result: 'failed'; readonly kind: ErrorKind | 'internal'; readonly message: string };

export type Executions = {
  readonly read: (signal: AbortSignal) => Promise<Outcome>;
  readonly withdraw: () => void;
  /** Stores documents of other rooms in one transaction of the ledger. The call waits while executions are being counted. */
  readonly commit: (make: () => readonly LedgerDocument[], spooled?: readonly SpooledTrace[]) => Promise<void>;
  /** Returns the server time at which the running executions of a project were read; undefined if they were not read. */
  readonly runningReadMs: (project: string) => number | undefined;
  readonly progress: () => ReadonlyMap<string, ProjectState> | undefined;
  readonly factsOf: LedgerCache['factsOf'];
  /** Returns the duration that 75 % of the runs of a job do not exceed; the average if durations of the job are not counted. */
  readonly durationMs: (...job: Parameters<LedgerCache['factsOf']>) => number | undefined;
  readonly averages: Averages;
  /** Call before requesting the jobs of a project. The returned function takes the list. Undefined before the first round. */
  readonly beginJobList: (project: string) => LearnJobs | undefined;
  /** Returns how many seconds the project with the largest lag is behind; 0 before the first round. */
  readonly lagSeconds: () => number;
  /** Returns the running executions of the last round and the newest finished executions, for pages. */
  readonly status: () => ExecutionsStatus;
};

export type ExecutionsStatus = {
  readonly running: readonly Execution[];
  readonly recent: readonly RecentRun[];
  readonly epoch: number | undefined;
  readonly countedSinceMs?: number | undefined;
  /** The server time: its last known value plus the time since then. */
  readonly nowMs: number;
  /** The server time at which running executions were last read; undefined before the first read. */
  readonly seenMs: number | undefined;
  /** The last result that could be read, and its time; set only while running executions cannot be read. */
  readonly lastRead?: { readonly running: readonly Execution[]; readonly seenMs: number } | undefined;
  readonly visibility: Sight;
  /** The imports since the last other execution; undefined if the last counted execution was not an import. */
  readonly imports?: ImportsSince | undefined;
  readonly jobs: ReadonlyMap<string, JobFacts>;
  /** Reports whether a project has series. Deleted and excluded projects have no series. */
  readonly isShownProject: (project: string) => boolean;
  /** Jobs without series of their own; undefined before the first round. */
  readonly leftOut: LeftOut | undefined;
};

/** Reads the executions of a server, counts each finished execution once, and publishes the totals. */
export function createExecutions(given: ExecutionsOptions): Executions {
  const { tracePort = createTracePort(given.settings.buckets) } = given;
  const imports = createImportsSince(given.clock.ticks);
  const options = { ...given, observe: imports.watch(given.observe) };
  const tools = createTools(options, tracePort);
  const { activities, oddRows, showing, visibility } = tools;
  let opened: Promise<OpenRound> | undefined;
  let found: OpenRound | undefined;
  let latest: ReadNow | undefined;
  const serverNowMs = (): number => toServerNow(latest, options.clock);

  /** Opens the ledger in the first round. If opening fails, the next round tries again. */
  async function open(): Promise<OpenRound> {
    opened ??= openRound(options, activities, oddRows, tracePort.failures);
    try {
      found = await opened;
      tracePort.noteTotals(found.cache.totals);
      return found;
    } catch (error) {
      opened = undefined;
      throw error;
    }
  }

  async function read(signal: AbortSignal): Promise<Outcome> {
    const ready = await open();
    const faults = createRoundFaults(signal);
    const round = { found: ready, faults, signal, startedTicks: options.clock.ticks() };
    try {
      const played = playRound(tools, round, (now) => {
        latest = joinLastRead(now, latest);
        tracePort.noteServerNow(now.nowMs);
      });
      await showMeanwhile(tools, { ...round, latest: () => latest }, played);
    } catch (error) {
      if (!faults.isOfRound(error)) throw error;
    }
    const failure = toFailure(faults);
    if (failure !== undefined) return failure;
    const note = toNote(ready.cache, activities, faults.unasked());
    const complaints = toComplaints(options, ready, oddRows.complaints());
    return { result: 'success', series: showing.series(), complaints, ...(note === undefined ? {} : { note }) };
  }

  return {
    read,
    withdraw: options.withdraw,
    commit: async (make, spooled = []) => {
      const { cache } = await open();
      await cache.update(async () => {
        const alongside = make();
        return alongside.length === 0 ? undefined : { alongside, spooled };
      });
    },
    runningReadMs: (project) => {
      if (latest?.running === undefined || visibility.all().runningDenied.includes(project)) return undefined;
      return toReadMs(latest, project);
    },
    progress: () => found?.cache.states,
    factsOf: (...job) => found?.cache.factsOf(...job),
    durationMs: (...job) =>
      found && toTypicalDuration(found.cache.totals, found.cache.factsOf(...job), options.settings.buckets),
    averages: createAverages({ cache: () => found?.cache, serverNowMs, clock: options.clock }),
    beginJobList: (project) => found?.jobLists.begin(project),
    lagSeconds: () => (found && latest ? toLagSeconds(found.cache, activities, latest.nowMs) : 0),
    status: () => ({
      ...toSeen(latest),
      recent: found?.cache.recent() ?? [],
      epoch: found?.cache.facts().epoch,
      countedSinceMs: found?.cache.facts().countedSinceMs,
      nowMs: serverNowMs(),
      visibility: visibility.all(),
      leftOut: found?.room.leftOut(),
      imports: imports.now(),
      jobs: found?.cache.totals.jobs ?? noJobs,
      isShownProject: (project) => isOfShown(found?.cache.states.get(project)),
    }),
  };
}

/** Waits for a round. Publishes at intervals during the round, because published series expire. */
async function showMeanwhile(
  { options: { clock, everyMs }, showing, projectList }: RoundTools,
  { found, signal, latest }: { found: OpenRound; signal: AbortSignal; latest: () => RoundNow | undefined },
  round: Promise<void>,
): Promise<void> {
  let shown = Promise.resolve();
  let cancel = clock.after(everyMs / 2, again);
  function again(): void {
    cancel = clock.after(everyMs / 2, again);
    // The commit fails if the disk is full; the round reports the error when it ends.
    shown = shown.then(show).catch(() => undefined);
  }
  async function show(): Promise<void> {
    const now = latest();
    if (now !== undefined && !signal.aborted)
      await showing.showInPassing(found, { ...now, names: projectList.names() });
  }
  try {
    await round;
  } finally {
    cancel();
    await shown;
  }
}

function toFailure({ all, silence }: RoundFaults): Outcome | undefined {
  const error = silence();
  if (error !== undefined) throw error;
  const [first] = all;
  if (first === undefined) return undefined;
  const message = all.length === 1 ? first.message : `${all.length} reads failed; first error: ${first.message}`;
  return { result: 'failed', kind: first.kind, message };
}

const noJobs: ExecutionsStatus['jobs'] = new Map();

function toReadMs({ readTicks, sinceTicks, nowMs }: RoundNow, project: string): number | undefined {
  if (readTicks === undefined) return nowMs;
  const ticks = readTicks.get(project);
  return ticks === undefined ? undefined : nowMs - Math.max(0, sinceTicks - ticks);
}

function toComplaints(
  { settings: { countFromMs } }: ExecutionsOptions,
  { cache, recount }: OpenRound,
  ofRows: readonly string[],
): readonly string[] {
  const { countedSinceMs } = cache.facts();
  // The start of counting differs from the option if the option was added after counting had begun, or names a future time.
  const isVain = countFromMs !== undefined && countedSinceMs !== undefined && countFromMs !== countedSinceMs;
  const since = isVain ? new Date(countedSinceMs).toISOString() : '';
  const vain = `executions.count_from has no effect, because executions have been counted since ${since}`;
  return [...(isVain ? [vain] : []), ...ofRows, ...recount.complaints()];
}

function toServerNow(latest: RoundNow | undefined, { now, ticks }: ExecutionsOptions['clock']): number {
  return Math.floor(latest === undefined ? now() : latest.nowMs + ticks() - latest.sinceTicks);
}

function createTools(options: ExecutionsOptions, { exemplars }: Pick<TracePort, 'exemplars'>): RoundTools {
  const { settings, observe, clock } = options;
  const activities = createActivities();
  const activityHint = createActivityHint(clock);
  const oddRows = createOddRows(observe, clock.ticks);
  const visibility = createVisibility(clock.ticks);
  return {
    options,
    projectList: createWatchedProjects(options),
    activities,
    activityHint,
    narrowing: createNarrowing(),
    oddRows,
    visibility,
    readRunning: createRunningReader(clock.ticks, oddRows.note, options.memberStarts),
    notes: createReadNotes({ activities, visibility, activityHint, settings }),
    showing: createShow(options, { activities, visibility, exemplars }),
  };
}

type Options = {
  readonly cache: () => Pick<LedgerCache, 'totals' | 'update'> | undefined;
  readonly serverNowMs: () => number;
  readonly clock: Pick<Clock, 'ticks' | 'random'>;
};

/**
 * Decides when the average durations of jobs are read. If a job runs as a step of another job, its average changes without a
 * counted execution.
 */
export function createAverages({ cache, serverNowMs, clock }: Options) {
  const begunTicks = clock.ticks();
  const askedTicks = new Map<string, number>();
  return {
    /** Returns the ids of jobs whose averages must be read now, and removes the ids from the schedule. */
    takeDue: (project: string): readonly string[] => {
      const { jobs } = cache()?.totals ?? { jobs: new Map<string, never>() };
      const restMs = Math.max(minRestMs, jobs.size * perJobMs);
      for (const key of askedTicks.keys()) if (!jobs.has(key)) askedTicks.delete(key);
      // Due times are spread over the interval. If each job first waited an interval, frequent restarts would prevent all
      // reads.
      for (const key of jobs.keys()) {
        if (!askedTicks.has(key)) askedTicks.set(key, begunTicks - clock.random() * restMs);
      }
      const ticksOf = (key: string): number => askedTicks.get(key) ?? begunTicks;
      const due = [...jobs]
        .filter(
          ([, job]) => job.project === project && job.jobId !== undefined && serverNowMs() - job.lastEndMs >= restMs,
        )
        .filter(([key]) => clock.ticks() - ticksOf(key) >= restMs)
        .sort(([one], [other]) => ticksOf(one) - ticksOf(other))
        .slice(0, maxAtOnce);
      for (const [key] of due) askedTicks.set(key, clock.ticks());
      return due.flatMap(([, { jobId }]) => jobId ?? []);
    },
    learn: async (
      { project, group, name }: { project: string; group: string; name: string },
      averageDurationMs: number,
    ): Promise<void> => {
      const known = cache();
      await known?.update(async () => {
        const facts = known.totals.jobs.get(toJobKey(project, group, name));
        if (facts === undefined || facts.averageDurationMs === averageDurationMs) return undefined;
        return { jobs: [{ ...facts, averageDurationMs }] };
      });
    },
  };
}

type Averages = ReturnType<typeof createAverages>;

const minRestMs = 3_600_000;
/** The interval grows by 15 s per job, so there are at most 240 requests an hour. */
const perJobMs = 15_000;
const maxAtOnce = 10;
