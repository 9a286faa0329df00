import type { Api, Client } from '../api/client.ts';
import { systemInfo } from '../api/endpoints/system.ts';
import { ApiError, type ErrorKind } from '../api/errors.ts';
import type { Execution } from '../domain/execution.ts';
import type { Row } from '../metrics/family.ts';
import type { Ledger } from '../state/ledger.ts';
import { createAccept, type ExecutionsObserver } from './accept.ts';
import { type Activities, createActivities } from './activities.ts';
import { type Book, openBook, type RecentRun } from './book.ts';
import { executionFamilies as families } from './families.ts';
import { planListing } from './listing.ts';
import { createOverlap, type Overlap } from './overlap.ts';
import { type PlannedRead, planReads } from './plan.ts';
import { createProjectReading, type ProjectReading } from './project-reading.ts';
import { type Running, readRunning } from './reader.ts';
import type { reconcile } from './reconcile.ts';
import { createRelease, type Release } from './release.ts';
import { toTotalRows } from './rows.ts';
import { toRunningRows } from './running.ts';
import { createSecondLook, type SecondLook } from './second-look.ts';
import type { ExecutionSettings } from './settings.ts';
import { createTripwire } from './tripwire.ts';

/** What the rounds tell of themselves, for the daemon's own metrics. */
export type RoundObserver = ExecutionsObserver & {
  readonly lag: (seconds: number) => void;
  readonly epoch: (epoch: number) => void;
  readonly entries: (entries: number) => void;
};

export type ExecutionsOptions = {
  readonly server: string;
  readonly everyMs: number;
  readonly timeoutMs: number;
  readonly requestsPerSecond: number;
  readonly client: Client;
  /** The names of the watched projects. */
  readonly readProjects: (api: Api) => Promise<readonly string[]>;
  readonly ledger: Ledger;
  readonly settings: ExecutionSettings;
  readonly publish: (rows: readonly Row[], validForMs: number) => Promise<number>;
  readonly withdraw: () => void;
  readonly observe: RoundObserver;
  readonly clock: { readonly now: () => number; readonly ticks: () => number };
  /** Parts that tests replace by wrong ones, to see that it shows. */
  readonly parts?: {
    readonly reconcile?: typeof reconcile;
    readonly planReads?: typeof planReads;
    readonly planListing?: typeof planListing;
  };
};

type Outcome =
  | { readonly result: 'success'; readonly series: number; readonly note?: string }
  | { readonly result: 'failed'; readonly kind: ErrorKind | 'internal'; readonly message: string };

export type Executions = {
  /** One round: what runs, what has ended, and what a scrape is to show of both. */
  readonly read: (signal: AbortSignal) => Promise<Outcome>;
  readonly withdraw: () => void;
  /** What pages show: what ran in the last round, and what ended last. */
  readonly status: () => ExecutionsStatus;
};

export type ExecutionsStatus = {
  readonly running: readonly Execution[];
  readonly recent: readonly RecentRun[];
  readonly epoch: number;
  readonly nowMs: number | undefined;
};

type Parts = {
  readonly book: Book;
  readonly overlap: Overlap;
  readonly reading: ProjectReading;
  readonly secondLook: SecondLook;
  readonly release: Release;
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
  const list = parts.planListing ?? planListing;
  const activities = createActivities();
  const tripwire = createTripwire();
  let opened: Promise<Parts> | undefined;
  let latest: { readonly running: readonly Execution[]; readonly nowMs: number } | undefined;
  let names: readonly string[] = [];
  let nextListTicks = Number.NEGATIVE_INFINITY;
  let nextWireMs = Number.NEGATIVE_INFINITY;
  let sweep: { readonly sinceMs: number; found: number } | undefined;
  let skew: { readonly ms: number; readonly untilTicks: number } | undefined;

  async function open(): Promise<Parts> {
    const book = await openBook(ledger, server);
    const { isWantedJob, buckets, detail, cap, catchUpLimitMs, backfillMs } = settings;
    const keepMs = Math.max(leastKeptMs, catchUpLimitMs, backfillMs) + dayMs;
    const reconcilePart = parts.reconcile === undefined ? {} : { reconcile: parts.reconcile };
    const rules = { buckets, detail, cap };
    const accept = createAccept({ server, book, ledger, rules, isWantedJob, observe, keepMs, ...reconcilePart });
    const overlap = createOverlap(settings.overlapMs);
    const reading = createProjectReading({ book, accept, overlap, catchUpLimitMs, observe });
    const secondLook = createSecondLook({ server, book, ledger, activities, reading, overlap });
    return { book, overlap, reading, secondLook, release: createRelease(book, settings.holdNewSeriesMs, clock.ticks) };
  }

  function within(signal: AbortSignal, lane: 'vital' | 'normal' = 'normal'): Api {
    return client.within({ lane, forMs: timeoutMs, signal });
  }

  /** The server's clock; where answers do not tell it, reckoned from ours and how far the two were apart. */
  async function readNow(running: Running, signal: AbortSignal): Promise<number> {
    if (running.serverMs !== undefined) return running.serverMs;
    if (skew === undefined || clock.ticks() >= skew.untilTicks) {
      const { answer, midRequestMs } = await within(signal).getTimed(systemInfo);
      skew = { ms: (answer.timestampMs ?? midRequestMs) - midRequestMs, untilTicks: clock.ticks() + skewKnownForMs };
    }
    return clock.now() + skew.ms;
  }

  async function refreshList({ book }: Parts, nowMs: number, signal: AbortSignal): Promise<void> {
    if (clock.ticks() < nextListTicks) return;
    names = await options.readProjects(within(signal));
    nextListTicks = clock.ticks() + Math.max(listEveryMs, everyMs);
    const { backfillMs, isWantedProject: isWanted } = settings;
    await book.update(async () =>
      list({ names: new Set(names), states: book.states, facts: book.facts(), nowMs, backfillMs, isWanted }),
    );
  }

  async function readOne(found: Parts, planned: PlannedRead, nowMs: number, signal: AbortSignal): Promise<void> {
    const { project, purpose } = planned;
    activities.note(project, { readAtMs: nowMs }, nowMs);
    const before = activities.all.get(project);
    const { counted, hidden, isUnshown, serverTimes } = await found.reading.read(within(signal), planned, nowMs);
    const isWide = purpose === 'rotation' && (before?.nextDayMs ?? 0) <= nowMs;
    const unshownSinceMs = isUnshown ? (before?.unshownSinceMs ?? nowMs) : undefined;
    activities.note(project, { hidden, unshownSinceMs, ...(isWide ? { nextDayMs: nowMs + hourMs } : {}) }, nowMs);
    if (counted > 0) activities.note(project, { activeUntilMs: nowMs + activeForMs(settings) }, nowMs);
    if (unshownSinceMs !== undefined && nowMs - unshownSinceMs > dayMs)
      await found.reading.hold(project, 'hidden', nowMs);
    if (sweep !== undefined) sweep.found += counted;
    found.overlap.noteClocks([nowMs, ...serverTimes], nowMs);
  }

  async function checkWire({ book, overlap }: Parts, nowMs: number, signal: AbortSignal): Promise<void> {
    const isDone =
      sweep !== undefined && [...activities.all.values()].every(({ readAtMs }) => readAtMs >= (sweep?.sinceMs ?? 0));
    if (sweep !== undefined && isDone) {
      tripwire.swept(sweep.found, nowMs);
      sweep = undefined;
    }
    if (sweep !== undefined || nowMs < nextWireMs) return;
    nextWireMs = nowMs + wireEveryMs;
    const window = { beginMs: nowMs - settings.maxDelayMs - overlap.ms(nowMs), endMs: nowMs - overlap.ms(nowMs) };
    const known = await ledger.countEnds(server, { projects: [...book.states.keys()], ...window });
    if (await tripwire.hasTripped(within(signal), window, known)) sweep = { sinceMs: nowMs, found: 0 };
  }

  async function show({ book, release }: Parts, nowMs: number): Promise<number> {
    await release.due();
    const executions = latest?.running ?? [];
    const isRead = (project: string): boolean => book.states.get(project)?.hold === undefined;
    const projects = names.filter(isRead);
    const hidden = [...activities.all].flatMap(([project, activity]) =>
      activity.hidden > 0 ? families.hidden.rows(activity.hidden, { project }) : [],
    );
    const rows = [
      ...toRunningRows({ executions, projects, nowMs, places: book.totals.places, settings }),
      ...toTotalRows({ totals: book.totals, states: book.states, settings }),
      ...hidden,
    ];
    observe.lag(toLagSeconds(book, activities, nowMs));
    observe.epoch(book.facts().epoch);
    observe.entries(await ledger.size(server));
    return options.publish(rows, Math.max(3 * everyMs, leastValidMs));
  }

  async function read(signal: AbortSignal): Promise<Outcome> {
    opened ??= open();
    const found = await opened.catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    const { book, overlap } = found;
    const startedTicks = clock.ticks();
    const running = await readRunning(within(signal, 'vital'));
    const nowMs = await readNow(running, signal);
    latest = { running: running.executions, nowMs };
    await refreshList(found, nowMs, signal);
    for (const { project, endedAtMs } of running.executions) {
      if (project === undefined || endedAtMs !== undefined || !book.states.has(project)) continue;
      activities.note(project, { activeUntilMs: nowMs + activeForMs(settings) }, nowMs);
    }
    const faults: ApiError[] = [];
    const attempt = async (work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        if (!(error instanceof ApiError) || signal.aborted) throw error;
        faults.push(error);
        if (error.kind === 'unauthorized' || error.details.unsent === true) throw error;
      }
    };
    const planned = plan({
      states: book.states,
      activities: activities.all,
      nowMs,
      everyMs,
      overlapMs: overlap.ms(nowMs),
      maxDelayMs: settings.maxDelayMs,
      sweepBeforeMs: sweep?.sinceMs,
      sweepQuota: Math.ceil((requestsPerSecond * everyMs) / 2000),
    });
    try {
      await inParallel(planned, async (each) => {
        if (each.purpose === 'behind' && clock.ticks() - startedTicks > timeForPast * everyMs) return;
        await attempt(() => readOne(found, each, nowMs, signal));
      });
      await attempt(() => found.secondLook.look(() => within(signal), nowMs));
      await attempt(() => checkWire(found, nowMs, signal));
    } finally {
      if (!signal.aborted) await show(found, nowMs);
    }
    const [first] = faults;
    if (first === undefined) return { result: 'success', series: book.totals.cells.size };
    return {
      result: 'failed',
      kind: first.kind,
      message: `${faults.length} of ${planned.length} projects: ${first.message}`,
    };
  }

  return {
    read,
    withdraw: options.withdraw,
    status: () => ({ running: latest?.running ?? [], recent: [], epoch: 1, nowMs: latest?.nowMs }),
  };
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const leastKeptMs = 8 * dayMs;
const leastValidMs = 60_000;
const listEveryMs = 60_000;
const wireEveryMs = 60_000;
const skewKnownForMs = 300_000;
/** Requests for projects that are under way at once. */
const width = 3;
/** The part of an interval after which a round takes up nothing of the past. */
const timeForPast = 0.7;

function activeForMs({ overlapMs }: ExecutionSettings): number {
  return 2 * overlapMs;
}

/** How far behind the oldest of the projects is that are read. */
function toLagSeconds(book: Book, activities: Activities, nowMs: number): number {
  let oldestMs = nowMs;
  for (const { project, hold, scannedThroughMs } of book.states.values()) {
    const isUnshown = activities.all.get(project)?.unshownSinceMs !== undefined;
    if (hold === undefined && !isUnshown) oldestMs = Math.min(oldestMs, scannedThroughMs);
  }
  return (nowMs - oldestMs) / 1000;
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items[Symbol.iterator]();
  async function takeTurns(): Promise<void> {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) await work(next.value);
  }
  // What one of them throws ends none of the others half-way.
  const turns = await Promise.allSettled(Array.from({ length: width }, takeTurns));
  for (const turn of turns) if (turn.status === 'rejected') throw turn.reason;
}
