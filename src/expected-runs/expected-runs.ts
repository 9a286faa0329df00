import type { Api, Client } from '../api/client.ts';
import { jobInfo } from '../api/endpoints/jobs.ts';
import type { Project } from '../api/endpoints/projects.ts';
import type { Clock } from '../domain/clock.ts';
import type { Surroundings } from '../domain/failure-class.ts';
import { toJobPath } from '../domain/job.ts';
import { createPause, maxPieceMs, type Pause } from '../domain/pause.ts';
import type { Row } from '../metrics/family.ts';
import { createNewSeriesHold } from '../metrics/new-series.ts';
import type { Ledger } from '../state/ledger.ts';
import { createOutlook } from './ahead.ts';
import { askDoubts } from './ask-doubts.ts';
import { type Asking, createAsking } from './ask-jobs.ts';
import { findSetBack } from './deciding/blockers.ts';
import { decide } from './deciding/decide.ts';
import type { Doubt } from './deciding/doubts.ts';
import { isProjectOff } from './deciding/sources.ts';
import { isOff, type Judged, type WatchedJob } from './deciding/watched-job.ts';
import { type AskedSchedules, explain, toUnread, type WhyInput } from './deciding/why.ts';
import type { ExecutionsPort } from './executions-port.ts';
import { createExpectedJobs, type ExpectedJobs } from './expected-jobs.ts';
import { createListing } from './listing.ts';
import { findFailingNodes } from './risks/risk.ts';
import { createClearTimes, createWaits, toSeenRuns } from './seen-runs.ts';
import type { ExpectedRunsSettings } from './settings.ts';
import { listHeld, toNodeRows, toRiskRows, toScheduleRows } from './showing/rows.ts';
import { type ScheduledJob, toScheduledJob, toTimes } from './showing/scheduled-job.ts';
import { toServerSchedule } from './showing/server-schedule.ts';
import type { SourceNotes } from './sources.ts';

type Outcome =
  | { readonly result: 'success'; readonly series: number; readonly note?: string }
  | { readonly result: 'off'; readonly reason: 'version'; readonly message: string };

type ExpectedRunsOptions = {
  readonly server: string;
  readonly everyMs: number;
  readonly timeoutMs: number;
  readonly client: Client;
  readonly clock: Clock;
  readonly publish: (rows: readonly Row[], validForMs: number) => Promise<number>;
  readonly omits: (row: Row) => boolean;
  readonly withdraw: () => void;
  readonly ledger: Pick<Ledger, 'load' | 'countEnds'>;
  readonly port: ExecutionsPort;
  readonly notes: SourceNotes;
  /** Returns the keys, nodes and other things that jobs depend on; undefined without a journal of changes. */
  readonly surroundings: () => Surroundings | undefined;
  readonly settings: ExpectedRunsSettings;
  readonly readProjects: (api: Api) => Promise<readonly Project[]>;
};

export type ExpectedRuns = ReturnType<typeof createExpectedRuns>;

/** Finds the scheduled runs of one server that did not happen, and their causes. */
export function createExpectedRuns(options: ExpectedRunsOptions) {
  const { client, clock, timeoutMs, everyMs, settings, notes, port, publish, omits } = options;
  const jobs = createExpectedJobs(options);
  const round = createRound(options, jobs);
  const listing = createListing({ ...options, jobs });
  const hold = createNewSeriesHold(settings.holdNewSeriesMs);
  const outlook = createOutlook(round);

  const failingNodes = () => findFailingNodes({ nodes: jobs.failingNodes(), factsOf: port.factsOf });
  async function show(): Promise<number> {
    const nowMs = notes.serverNowMs();
    const { hour, day } = await outlook.plan(createPause(clock));
    const risks = await outlook.judge(createPause(clock));
    const rows = toScheduleRows({
      jobs: jobs.all.values(),
      tallies: jobs.tallies.values(),
      nowMs,
      isCritical: (job) => settings.isCriticalJob(toJobPath(job)),
      buckets: settings.buckets,
      hour,
      day,
    });
    // Building the rows of thousands of jobs takes long.
    await clock.nextTurn();
    const awakeTicks = clock.awakeTicks();
    const all = [...rows, ...toNodeRows(failingNodes()), ...toRiskRows(risks ?? {}, '12h')];
    const series = await publish(all, Math.max(3 * everyMs, minValidMs));
    await clock.nextTurn();
    hold.noteShown(listHeld({ jobs: jobs.all.values(), tallies: jobs.tallies.values(), omits }), awakeTicks);
    return series;
  }

  return {
    failingNodes,
    /** Loads the stored state. Call before executions are counted, because counted runs are recorded here. */
    open: jobs.open,
    commitHook: jobs.commitHook,
    read: async (signal: AbortSignal): Promise<Outcome> => {
      await jobs.open();
      // Stores readings before the first request, because the server may not respond.
      await jobs.release(hold.due(clock.awakeTicks()));
      const api = client.within({ lane: 'normal', forMs: timeoutMs, signal });
      if (!(await api.supports(jobInfo))) return tooOld;
      round.clear.note(options.port);
      round.waits.note(options.port.running(), notes.serverNowMs());
      await listing.read(api, round.asking.changed);
      await decideAll(round);
      const isLearned = await askDoubts(api, { ...round, nowMs: notes.serverNowMs, sources: notes.all });
      if ((await round.asking.read(api, signal)) || isLearned) await decideAll(round);
      notes.forget(notes.serverNowMs() - settings.catchUpLimitMs - hourMs);
      await jobs.forgetGone(notes.serverNowMs());
      const note = toNote(jobs.all.values(), notes.serverNowMs());
      return { result: 'success', series: await show(), ...(note === undefined ? {} : { note }) };
    },
    withdraw: options.withdraw,
    jobs: () => jobs.all,
    scheduled: () => listScheduled(options, jobs),
    /** Returns the first job with the given path or id, with the reason for its last result and its undecided times. */
    find: (path: string) => {
      const [job] = findJobs(jobs, path);
      if (job === undefined) return undefined;
      const why = explain(job, toWhyInput(round, job));
      return { job: toListed(options, job), why, ...toTimes(job, notes.serverNowMs()) };
    },
    /** Returns the last and the next hours of all jobs. */
    schedule: (pause: Pause) => {
      const { server } = options;
      const read = { nowMs: notes.serverNowMs(), sources: notes.all(), hours: jobs.hours(), ahead: outlook.ahead() };
      return toServerSchedule({ server, jobs: jobs.all.values(), ...read }, pause);
    },
    outlook,
    hours: jobs.hours,
    /** Returns a finding if the server clock was set back, because the scheduler then may start no jobs. */
    setBack: () => findSetBack(notes.all(), notes.serverNowMs()),
    serverNowMs: notes.serverNowMs,
    /** Explains the last decision about each job with the given path or id. */
    why: (job: string) => findJobs(jobs, job).map((found) => explain(found, toWhyInput(round, found))),
  };
}

function* listScheduled(options: ExpectedRunsOptions, { all }: Pick<ExpectedJobs, 'all'>): Generator<ScheduledJob> {
  for (const job of all.values()) if (job.goneAtMs === undefined) yield toListed(options, job);
}

function toListed({ server, port, notes }: ExpectedRunsOptions, job: WatchedJob): ScheduledJob {
  const facts = port.factsOf(job.project, job.group, job.name, job.id);
  return toScheduledJob(job, { server, nowMs: notes.serverNowMs(), facts, sources: notes.all() });
}

function findJobs({ all }: Pick<ExpectedJobs, 'all'>, word: string): readonly WatchedJob[] {
  const byId = all.get(word);
  if (byId !== undefined) return [byId];
  const named = [...all.values()].filter((job) => toJobPath(job) === word);
  const there = named.filter(({ goneAtMs }) => goneAtMs === undefined);
  // A job that is no longer listed is also explained, because it may be hidden, not deleted.
  return there.length > 0
    ? there
    : named.toSorted(({ goneAtMs: one = 0 }, { goneAtMs: other = 0 }) => other - one).slice(0, 1);
}

function toWhyInput(round: Round, { project, group, name, id }: WatchedJob): WhyInput {
  const { server, port, notes } = round;
  const facts = port.factsOf(project, group, name, id);
  const lastRun = facts && {
    id: facts.lastId,
    status: facts.lastEnding,
    started: new Date(facts.lastStartMs).toISOString(),
    seconds: facts.lastDurationMs === undefined ? undefined : facts.lastDurationMs / 1000,
  };
  return { server, nowMs: notes.serverNowMs(), lastRun, sources: notes.all(), asked: toAskedSchedules(round) };
}

function toAskedSchedules({ jobs, asking, notes }: Round): AskedSchedules {
  const sources = notes.all();
  const asked = [...jobs.all.values()].filter(
    (job) => job.goneAtMs === undefined && !isOff(job) && !isProjectOff(sources, job.project),
  );
  const left = asked.filter(({ timetable, unread }) => timetable === undefined && unread === undefined).length;
  return { known: asked.length - left, all: asked.length, leftMs: asking.toDurationMs(left) };
}

const tooOld: Outcome = {
  result: 'off',
  reason: 'version',
  message: 'needs API 18: this server does not report next runs, so schedules are not watched',
};

type Round = ExpectedRunsOptions & {
  readonly jobs: ExpectedJobs;
  readonly clear: ReturnType<typeof createClearTimes>;
  readonly waits: ReturnType<typeof createWaits>;
  /** What must be requested before missed runs are decided, by job id. */
  readonly doubts: Map<string, Doubt>;
  /** Jobs whose request in `doubts` timed out. */
  readonly unanswered: Set<string>;
  readonly asking: Asking;
};

function createRound(options: ExpectedRunsOptions, jobs: ExpectedJobs): Round {
  const asking = createAsking({ ...options, jobs });
  const known = { clear: createClearTimes(), waits: createWaits(), doubts: new Map(), unanswered: new Set<string>() };
  return { ...options, ...known, jobs, asking };
}

/** Decides all jobs in pieces. Each piece is a transaction; other work runs between pieces. */
async function decideAll(round: Round): Promise<void> {
  const { jobs, port, notes, clock } = round;
  const progress = port.progress();
  if (progress === undefined) return;
  const given = {
    progress,
    running: toSeenRuns([...port.running(), ...round.clear.listed()]),
    nowMs: notes.serverNowMs(),
  };
  const left = jobs.all.values();
  round.doubts.clear();
  for (let isMore = true; isMore; ) {
    isMore = false;
    await jobs.change(() => {
      const judged: Judged[] = [];
      const untilTicks = clock.ticks() + maxPieceMs;
      for (let next = left.next(); next.done !== true; next = left.next()) {
        judged.push(...judge(round, next.value, given));
        isMore = clock.ticks() >= untilTicks;
        if (isMore) break;
      }
      return judged;
    });
    if (isMore) await clock.nextTurn();
  }
}

type Given = {
  readonly progress: NonNullable<ReturnType<ExecutionsPort['progress']>>;
  readonly running: ReturnType<typeof toSeenRuns>;
  readonly nowMs: number;
};

function judge(round: Round, job: WatchedJob, { progress, running, nowMs }: Given): readonly Judged[] {
  const { notes, clear, waits, doubts, settings } = round;
  const { waiting } = round.asking;
  const { countedFromMs = Number.NEGATIVE_INFINITY } = progress.get(job.project) ?? {};
  const decided = decide(job, {
    nowMs,
    marginMs: settings.marginMs,
    catchUpLimitMs: settings.catchUpLimitMs,
    clearMs: clear.of(job.project),
    behindMs: notes.clocks.behindMs(job.ownerUuid),
    aheadMs: notes.clocks.aheadMs(job.ownerUuid),
    countedFromMs,
    running: [...(running.get(job.id) ?? []), ...waits.of(job.id)],
    sources: notes.all(),
  });
  if (decided.needsAnswer) waiting.add(job.id);
  else waiting.delete(job.id);
  if (decided.doubt !== undefined) doubts.set(job.id, decided.doubt);
  return decided.job === job ? [] : [decided];
}

const hourMs = 3_600_000;
const minValidMs = 60_000;

/** Names the jobs whose missed runs are not reported, with the cause; undefined if there are none. */
function toNote(jobs: Iterable<WatchedJob>, nowMs: number): string | undefined {
  const there = [...jobs].filter(({ goneAtMs }) => goneAtMs === undefined);
  const hidden = there.filter(({ hiddenMs }) => hiddenMs !== undefined);
  const unread = there.filter((job) => isUnreadable(job) && !isOff(job));
  const said = unread[0]?.unread === undefined ? '' : toUnread(unread[0].unread, nowMs);
  const texts = [
    ...toNames(hidden).map((names) => `runs of ${names} cannot be read, so their missed runs are not reported`),
    ...toNames(unread).map((names) => `the schedule of ${names} cannot be read: ${said}`),
  ];
  return texts.length === 0 ? undefined : texts.join('; ');
}

/** Reports whether a schedule cannot be read. False for a job that may be deleted. */
function isUnreadable({ unread, listedAtMs }: WatchedJob): boolean {
  return unread?.why !== undefined && (unread.count > 1 || listedAtMs > unread.atMs);
}

function toNames(jobs: readonly WatchedJob[]): readonly string[] {
  const [first] = jobs;
  if (first === undefined) return [];
  return [jobs.length === 1 ? toJobPath(first) : `${toJobPath(first)} and ${jobs.length - 1} more`];
}
