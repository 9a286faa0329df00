import type { Api } from '../api/client.ts';
import type { ErrorKind } from '../api/errors.ts';
import type { Execution } from '../domain/execution.ts';
import { runLimited } from '../domain/run-limited.ts';
import { noteOneTimeRuns } from './ledger/count-executions.ts';
import type { RecentRun } from './ledger/recent-runs.ts';
import { rewindLedger } from './ledger/rewind.ts';
import { openRound, type RoundParts } from './open-round.ts';
import type { ExecutionsOptions } from './options.ts';
import { createActivities } from './reading/activities.ts';
import { createActivityHint } from './reading/activity-hint.ts';
import { createOddRows } from './reading/odd-rows.ts';
import { planProjects } from './reading/plan-projects.ts';
import { type PlannedRead, planReads } from './reading/plan-reads.ts';
import { createReadNotes, toActiveMs } from './reading/read-notes.ts';
import { createRoundFaults, type RoundFaults } from './reading/round-faults.ts';
import { createRunningReader, type Running } from './reading/running-reader.ts';
import { createServerClock } from './reading/server-clock.ts';
import { createVisibility, type Sight } from './reading/visibility.ts';
import { createWatchedProjects } from './reading/watched-projects.ts';
import { createExemplars, type TracedRun } from './series/exemplars.ts';
import type { LeftOut } from './series/fit-series.ts';
import { toNote } from './series/lag.ts';
import { createShow } from './series/show.ts';

type Outcome =
  | {
      readonly result: 'success';
      readonly series: number;
      readonly complaints?: readonly string[];
      /** What the round had no time for. */
      readonly note?: string;
    }
  | { readonly result: 'failed'; readonly kind: ErrorKind | 'internal'; readonly message: string };

export type Executions = {
  /** One round: what runs, what has ended, and what a scrape is to show of both. */
  readonly read: (signal: AbortSignal) => Promise<Outcome>;
  readonly withdraw: () => void;
  /** The trace of a counted run is made: it may stand for others of its duration. */
  readonly noteTrace: (traced: TracedRun) => void;
  /** What pages show: what ran in the last round, and what ended last. */
  readonly status: () => ExecutionsStatus;
};

export type ExecutionsStatus = {
  readonly running: readonly Execution[];
  readonly recent: readonly RecentRun[];
  readonly epoch: number | undefined;
  readonly nowMs: number | undefined;
  readonly visibility: Sight;
  /** Jobs without series of their own; undefined until the first round. */
  readonly leftOut: LeftOut | undefined;
};

/** Finds what ran on one server, counts every finished execution once, and shows it. */
export function createExecutions(options: ExecutionsOptions): Executions {
  const {
    server,
    everyMs,
    timeoutMs,
    requestsPerSecond,
    client,
    ledger,
    settings,
    observe,
    clock,
    parts = {},
  } = options;
  const plan = parts.planReads ?? planReads;
  const listing = createWatchedProjects({ ...options, list: parts.planProjects ?? planProjects });
  const activities = createActivities();
  const activityHint = createActivityHint();
  const oddRows = createOddRows(observe, clock.ticks);
  const visibility = createVisibility(clock.ticks);
  let opened: Promise<RoundParts> | undefined;
  let latest:
    | { readonly running: Running['executions']; readonly nowMs: number; readonly sinceTicks: number }
    | undefined;
  const serverClock = createServerClock(clock);
  const readRunning = createRunningReader(clock.ticks, oddRows.note);
  const exemplars = createExemplars(settings.buckets);
  let shown: RoundParts | undefined;
  const notes = createReadNotes({ activities, visibility, activityHint, settings });
  const showing = createShow(options, { activities, visibility, exemplars });
  let roundTicks = 0;

  async function open(): Promise<RoundParts> {
    shown = await openRound(options, activities, oddRows);
    return shown;
  }

  function within(signal: AbortSignal, lane: 'vital' | 'normal' = 'normal'): Api {
    return client.within({ lane, forMs: timeoutMs, signal });
  }

  async function readOne(found: RoundParts, planned: PlannedRead, nowMs: number, signal: AbortSignal): Promise<void> {
    const { project } = planned;
    activities.note(project, { readAtMs: nowMs }, nowMs);
    const read = await found.reading.read(within(signal), planned, nowMs);
    const isGone = notes.noteNewest(planned, read, found.cache.states.get(project), nowMs);
    if (isGone) await found.reading.hold(project, 'hidden', nowMs);
    found.overlap.noteClocks([nowMs, ...read.serverTimes], nowMs);
  }

  async function checkWire({ cache, overlap }: RoundParts, nowMs: number, signal: AbortSignal): Promise<void> {
    const endMs = nowMs - overlap.ms(nowMs);
    const projects = [...cache.states.values()].flatMap(({ project, hold }) => (hold === 'excluded' ? [] : [project]));
    await activityHint.check(within(signal), {
      nowMs,
      activities,
      projects,
      window: { beginMs: endMs - settings.maxDelayMs, endMs },
      countKnown: (window) => ledger.countEnds(server, { projects: [...cache.states.keys()], ...window }),
    });
  }

  /** What is behind, what was missed and what was skipped: a while in each round, and never at the cost of what is new. */
  async function readBack(found: RoundParts, faults: RoundFaults, nowMs: number, signal: AbortSignal): Promise<void> {
    const { attempt } = faults;
    const api = (): Api => within(signal);
    const startedTicks = clock.ticks();
    const untilTicks = Math.max(roundTicks + timeForPast * everyMs, startedTicks + leastForPast * everyMs);
    const mayGoOn = (): boolean => !signal.aborted && clock.ticks() < untilTicks;
    await found.readPast({
      api,
      nowMs,
      mayGoOn,
      attempt,
      noteRead: (project, read) => notes.notePast(project, read, nowMs),
    });
    const lookUntilTicks = Math.max(untilTicks, clock.ticks() + leastForLooks * everyMs);
    const mayLook = (): boolean => !signal.aborted && clock.ticks() < lookUntilTicks;
    await attempt(() => found.recount.look(api, nowMs, mayLook));
    await attempt(() => found.countSkips(api, mayLook));
  }

  async function round(found: RoundParts, faults: RoundFaults, signal: AbortSignal): Promise<void> {
    const { cache, overlap } = found;
    const { attempt, ask } = faults;
    roundTicks = clock.ticks();
    let inAll: Running = { executions: undefined, serverMs: undefined };
    await ask(async () => {
      inAll = await readRunning((lane) => within(signal, lane), listing.names());
    });
    if (serverClock.isOld(inAll.serverMs)) await ask(() => serverClock.ask(within(signal)));
    const time = serverClock.now(inAll.serverMs);
    const { nowMs } = time;
    const now = { running: inAll.executions, nowMs, sinceTicks: clock.ticks() };
    latest = now;
    visibility.noteRunning(inAll);
    const api = (): Api => within(signal);
    const toShown = () => ({ ...now, names: listing.names() });
    try {
      const running = inAll.executions;
      const reachedMs = (await rewindLedger(cache, time)) ?? time.reachedMs;
      if (reachedMs !== undefined) {
        activities.rewind(nowMs);
        activityHint.rewind();
        overlap.noteReached(reachedMs);
      }
      if (time.leap !== undefined) overlap.noteLeap(time.leap);
      await attempt(() => listing.refresh({ cache, overlap, api, nowMs, running }));
      await found.restoreGap.begin(nowMs);
      await noteOneTimeRuns(cache, running ?? []);
      for (const { project = '', endedAtMs } of running ?? [])
        if (endedAtMs === undefined && cache.states.has(project))
          activities.note(project, { activeUntilMs: nowMs + toActiveMs(settings) }, nowMs);
      await runLimited(planRound(found, nowMs), width, async (each) => {
        await ask(() => readOne(found, each, nowMs, signal));
        await showing.showInPassing(found, toShown());
      });
      await found.forgetMissing(nowMs);
      await found.jobLists.forgetMissing(nowMs);
      await attempt(() => checkWire(found, nowMs, signal));
      await found.jobLists.look(api, nowMs);
      await readBack(found, faults, nowMs, signal);
      const { states } = cache;
      await attempt(() => visibility.look(api, { names: listing.names(), nowMs, states, reading: found.reading }));
    } finally {
      if (!signal.aborted) await showing.show(found, toShown());
    }
  }

  function planRound({ cache, overlap, restoreGap }: RoundParts, nowMs: number): PlannedRead[] {
    return plan({
      states: cache.states,
      activities: activities.all,
      nowMs,
      everyMs,
      overlapMs: overlap.ms(nowMs),
      leap: overlap.leap(),
      maxDelayMs: settings.maxDelayMs,
      sweepBeforeMs: activityHint.sweepSinceMs() ?? restoreGap.untilMs(),
      sweepQuota: Math.ceil((requestsPerSecond * everyMs) / 2000),
    });
  }

  async function read(signal: AbortSignal): Promise<Outcome> {
    opened ??= open();
    const found = await opened.catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    const faults = createRoundFaults(signal);
    try {
      await round(found, faults, signal);
    } catch (error) {
      if (!faults.isOfRound(error)) throw error;
    }
    const silence = faults.silence();
    if (silence !== undefined) throw silence;
    const [first] = faults.all;
    if (first !== undefined) {
      const message =
        faults.all.length === 1 ? first.message : `${faults.all.length} reads failed, first: ${first.message}`;
      return { result: 'failed', kind: first.kind, message };
    }
    const note = toNote(found.cache, activities, faults.unasked());
    const complaints = [...oddRows.complaints(), ...found.recount.complaints()];
    return { result: 'success', series: showing.series(), complaints, ...(note === undefined ? {} : { note }) };
  }

  return {
    read,
    withdraw: options.withdraw,
    noteTrace: (traced) => {
      if (shown !== undefined) exemplars.note(traced, shown.cache.totals);
    },
    status: () => ({
      running: latest?.running ?? [],
      recent: shown?.cache.recent() ?? [],
      epoch: shown?.cache.facts().epoch,
      nowMs: latest?.nowMs,
      visibility: visibility.all(),
      leftOut: shown?.room.leftOut(),
    }),
  };
}

/** Requests for projects that are under way at once. */
const width = 3;
/** The part of an interval after which a round takes up nothing of the past, and what the past has of it in any case. */
const timeForPast = 0.7;
const leastForPast = 0.3;
const leastForLooks = 0.1;
