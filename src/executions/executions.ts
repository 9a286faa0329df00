import type { Api } from '../api/client.ts';
import type { ErrorKind } from '../api/errors.ts';
import type { Execution } from '../domain/execution.ts';
import { noteOneTimeRuns } from './accept.ts';
import { createActivities } from './activities.ts';
import { createExemplars, type TracedRun } from './exemplars.ts';
import { createFaults } from './faults.ts';
import { inTurns } from './in-turns.ts';
import { createListReading } from './list-reading.ts';
import { planListing } from './listing.ts';
import { createOddRows } from './odd-rows.ts';
import type { ExecutionsOptions } from './options.ts';
import { openParts, type Parts } from './parts.ts';
import { type PlannedRead, planReads } from './plan.ts';
import type { RecentRun } from './recent-runs.ts';
import { createRunningReader, type Running } from './running-reader.ts';
import type { LeftOut } from './series-room.ts';
import { createServerClock } from './server-clock.ts';
import { createShowing } from './showing.ts';
import { createSight, type Sight } from './sight.ts';
import { createTripwire } from './tripwire.ts';

type Outcome =
  | { readonly result: 'success'; readonly series: number; readonly complaints?: readonly string[] }
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
  readonly sight: Sight;
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
  const listing = createListReading({ ...options, list: parts.planListing ?? planListing });
  const activities = createActivities();
  const tripwire = createTripwire();
  const oddRows = createOddRows(observe, clock.ticks);
  const sight = createSight(clock.ticks);
  let opened: Promise<Parts> | undefined;
  let latest: { readonly running: Running['executions']; readonly nowMs: number } | undefined;
  const serverClock = createServerClock(clock);
  const readRunning = createRunningReader(clock.ticks, oddRows.note);
  const exemplars = createExemplars(settings.buckets);
  const show = createShowing(options, { activities, sight, exemplars });
  let shown: Parts | undefined;
  let series = 0;

  async function open(): Promise<Parts> {
    shown = await openParts(options, activities, oddRows);
    return shown;
  }

  function within(signal: AbortSignal, lane: 'vital' | 'normal' = 'normal'): Api {
    return client.within({ lane, forMs: timeoutMs, signal });
  }

  async function readOne(found: Parts, planned: PlannedRead, nowMs: number, signal: AbortSignal): Promise<void> {
    const { project, purpose } = planned;
    activities.note(project, { readAtMs: nowMs }, nowMs);
    const before = activities.all.get(project);
    const read = await found.reading.read(within(signal), planned, nowMs);
    const { counted, isUnshown, serverTimes } = read;
    sight.noteRead(project, read);
    const isWide = purpose === 'rotation' && (before?.nextDayMs ?? 0) <= nowMs;
    const unshownSinceMs = isUnshown ? (before?.unshownSinceMs ?? nowMs) : undefined;
    activities.note(project, { unshownSinceMs, ...(isWide ? { nextDayMs: nowMs + hourMs } : {}) }, nowMs);
    if (counted > 0) activities.note(project, { activeUntilMs: nowMs + activeForMs(settings) }, nowMs);
    if (unshownSinceMs !== undefined && nowMs - unshownSinceMs > dayMs)
      await found.reading.hold(project, 'hidden', nowMs);
    tripwire.noteRead(counted);
    found.overlap.noteClocks([nowMs, ...serverTimes], nowMs);
  }

  async function checkWire({ book, overlap }: Parts, nowMs: number, signal: AbortSignal): Promise<void> {
    const endMs = nowMs - overlap.ms(nowMs);
    const projects = [...book.states.values()].flatMap(({ project, hold }) => (hold === 'excluded' ? [] : [project]));
    await tripwire.check(within(signal), {
      nowMs,
      activities,
      projects,
      window: { beginMs: endMs - settings.maxDelayMs, endMs },
      countKnown: (window) => ledger.countEnds(server, { projects: [...book.states.keys()], ...window }),
    });
  }

  async function read(signal: AbortSignal): Promise<Outcome> {
    opened ??= open();
    const found = await opened.catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    const { book, overlap } = found;
    const startedTicks = clock.ticks();
    const { attempt, all: faults } = createFaults(signal);
    let inAll: Running = { executions: undefined, serverMs: undefined };
    await attempt(async () => {
      inAll = await readRunning((lane) => within(signal, lane), listing.names());
    });
    if (inAll.serverMs === undefined) await attempt(() => serverClock.ask(within(signal)));
    const nowMs = serverClock.now(inAll.serverMs);
    latest = { running: inAll.executions, nowMs };
    sight.noteRunning(inAll);
    let reads = 0;
    try {
      const round = { book, overlap, api: () => within(signal), nowMs, running: inAll.executions };
      await attempt(() => listing.refresh(round));
      await found.gap.begin(nowMs);
      await noteOneTimeRuns(book, inAll.executions ?? []);
      for (const { project = '', endedAtMs } of inAll.executions ?? [])
        if (endedAtMs === undefined && book.states.has(project))
          activities.note(project, { activeUntilMs: nowMs + activeForMs(settings) }, nowMs);
      const planned = plan({
        states: book.states,
        activities: activities.all,
        nowMs,
        everyMs,
        overlapMs: overlap.ms(nowMs),
        maxDelayMs: settings.maxDelayMs,
        sweepBeforeMs: tripwire.sweepSinceMs() ?? found.gap.untilMs(),
        sweepQuota: Math.ceil((requestsPerSecond * everyMs) / 2000),
      });
      reads = planned.length;
      await inTurns(planned, width, async (each) => {
        if (each.purpose === 'behind' && clock.ticks() - startedTicks > timeForPast * everyMs) return;
        await attempt(() => readOne(found, each, nowMs, signal));
      });
      await found.forgetOld(nowMs);
      await attempt(() => found.secondLook.look(() => within(signal), nowMs));
      await attempt(() => checkWire(found, nowMs, signal));
      await attempt(() =>
        sight.look(() => within(signal), {
          names: listing.names(),
          nowMs,
          states: book.states,
          reading: found.reading,
        }),
      );
    } finally {
      if (!signal.aborted) series = await show(found, { running: inAll.executions, names: listing.names(), nowMs });
    }
    const [first] = faults;
    if (first === undefined) return { result: 'success', series, complaints: oddRows.complaints() };
    return {
      result: 'failed',
      kind: first.kind,
      message: `${faults.length} of ${reads + 1} reads: ${first.message}`,
    };
  }

  return {
    read,
    withdraw: options.withdraw,
    noteTrace: (traced) => {
      if (shown !== undefined) exemplars.note(traced, shown.book.totals);
    },
    status: () => ({
      running: latest?.running ?? [],
      recent: shown?.book.recent() ?? [],
      epoch: shown?.book.facts().epoch,
      nowMs: latest?.nowMs,
      sight: sight.all(),
      leftOut: shown?.room.leftOut(),
    }),
  };
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Requests for projects that are under way at once. */
const width = 3;
/** The part of an interval after which a round takes up nothing of the past. */
const timeForPast = 0.7;

function activeForMs({ overlapMs }: ExecutionsOptions['settings']): number {
  return 2 * overlapMs;
}
