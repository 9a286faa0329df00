import { type ApiError, isOfWholeServer } from '../../api/errors.ts';
import type { Clock } from '../../domain/clock.ts';
import type { TracedExecution } from '../../domain/span-source.ts';
import { type PendingTrace, toPendingKey } from './pending.ts';

export type Waiting = {
  readonly pending: PendingTrace;
  /** The execution as it was listed when it was counted. */
  readonly listed: TracedExecution | undefined;
  /** The time of the first response to a request for the trace, in ticks of the seal clock. */
  sinceTicks: number | undefined;
  retryAtTicks: number;
  /** True if a request for the trace got no response. */
  isUnanswered: boolean;
  /** The number of consecutive tries that failed with an error of the server. */
  faults: number;
};

/** Executions with all fields of their list rows, as far as the rows are in memory. */
export type ListedRuns = ReadonlyMap<PendingTrace, TracedExecution>;

export type WaitingTraces = {
  readonly add: (pending: readonly PendingTrace[], listed?: ListedRuns) => void;
  readonly remove: (pending: PendingTrace) => void;
  readonly size: () => number;
  /** Returns the queue in order. Traces whose requests got no response come last, so that they do not delay others. */
  readonly inOrder: () => readonly Waiting[];
  /** Reports whether an execution was added since the queue was sorted, because it may be more urgent. */
  readonly hasNew: () => boolean;
  /** Reports whether a trace has waited too long for its steps, or waits in a queue that is too long. */
  readonly isLate: (pending: PendingTrace) => boolean;
  /** Reports whether the trace must be sent now, even with an unfinished state. */
  readonly isLastTry: (entry: Waiting) => boolean;
  readonly isDue: (entry: Waiting) => boolean;
  /** Returns the execution as it was listed a moment ago; undefined later, because its id may then be used again. */
  readonly listedOf: (entry: Waiting) => TracedExecution | undefined;
  readonly noteAnswer: (entry: Waiting) => void;
  /** Schedules the next try. The pause grows with the age of the trace. */
  readonly postpone: (entry: Waiting) => void;
  /** Schedules the next try after an error of the exporter. */
  readonly postponeAfterFault: (entry: Waiting) => void;
  /** Schedules the next try after an error of the server. A trace without a response goes to the end of the queue. */
  readonly noteApiFault: (entry: Waiting, fault: ApiError) => void;
};

type WaitingOptions = {
  readonly clock: Pick<Clock, 'now' | 'ticks'>;
  readonly sealTimeoutMs: number;
  readonly backlogAgeMs: number;
};

/** The queue of executions without traces, with the time of the next try of each. */
export function createWaitingTraces({ clock, sealTimeoutMs, backlogAgeMs }: WaitingOptions): WaitingTraces {
  const waiting = new Map<string, Waiting>();
  const sealClock = createSealClock(clock.ticks);
  const ages = createAges(clock);
  let crowdedOut: ReadonlySet<PendingTrace> = new Set();
  let hasNew = false;

  function isLate(pending: PendingTrace): boolean {
    return ages.of(pending) > backlogAgeMs || crowdedOut.has(pending);
  }

  function noteAnswer(entry: Waiting): void {
    sealClock.answered();
    entry.sinceTicks ??= sealClock.ticks();
  }

  /** Returns for how long requests for a trace have been answered; time in the queue does not count. */
  function toAskedMs(entry: Waiting): number {
    return entry.sinceTicks === undefined ? 0 : sealClock.ticks() - entry.sinceTicks;
  }

  function postponeAfterFault(entry: Waiting): void {
    entry.retryAtTicks = clock.ticks() + faultRetryMs;
  }

  return {
    add: (pending, listed) => {
      for (const each of pending) {
        const entry = { pending: each, listed: listed?.get(each), ...untried };
        waiting.set(toPendingKey(each), entry);
        ages.begin(each);
      }
      hasNew ||= pending.length > 0;
    },
    remove: (pending) => waiting.delete(toPendingKey(pending)),
    size: () => waiting.size,
    inOrder: () => {
      hasNew = false;
      const byPending = new Map([...waiting.values()].map((entry) => [entry.pending, entry]));
      crowdedOut = new Set(findCrowdedOut(byPending.keys(), maxWaiting));
      const ordered = toQueueOrder(byPending.keys(), isLate).flatMap((pending) => byPending.get(pending) ?? []);
      const isBehind = ({ isUnanswered, pending }: Waiting): boolean => isUnanswered && !isLate(pending);
      return [...ordered.filter((entry) => !isBehind(entry)), ...ordered.filter(isBehind)];
    },
    hasNew: () => hasNew,
    isLate,
    isLastTry: (entry) => {
      // In a long queue, tries are minutes apart, so a few errors prove little.
      const isTooEarly = entry.faults > 0 && entry.faults < minFaults;
      return toAskedMs(entry) > sealTimeoutMs && !isTooEarly;
    },
    listedOf: ({ pending, listed }) => (ages.of(pending) < listedForMs ? listed : undefined),
    isDue: ({ retryAtTicks }) => retryAtTicks <= clock.ticks(),
    noteAnswer: (entry) => {
      noteAnswer(entry);
      entry.faults = 0;
    },
    postpone: (entry) => {
      const ageMs = toAskedMs(entry);
      const laterMs = Math.min(maxRetryMs, Math.max(pendingRetryMs, ageMs / 4));
      const leftMs = sealTimeoutMs - ageMs;
      entry.retryAtTicks = clock.ticks() + (leftMs >= 0 ? Math.min(laterMs, leftMs + 1) : laterMs);
    },
    postponeAfterFault,
    noteApiFault: (entry, fault) => {
      postponeAfterFault(entry);
      const isUnsent = fault.details.unsent === true;
      if (isOfWholeServer(fault)) sealClock.silent();
      else if (isUnsent) sealClock.answered();
      else noteAnswer(entry);
      // An unsent request says nothing about its trace.
      if (isUnsent) return;
      entry.isUnanswered = true;
      entry.faults += 1;
    },
  };
}

/** Measures the time since each trace was counted, in ticks, because the system clock may be set while a trace waits. */
function createAges({ now, ticks }: WaitingOptions['clock']) {
  const seenTicks = new WeakMap<PendingTrace, number>();
  return {
    begin: (pending: PendingTrace): void => {
      seenTicks.set(pending, ticks() - Math.max(0, now() - pending.seenAtMs));
    },
    of: (pending: PendingTrace): number => ticks() - (seenTicks.get(pending) ?? ticks()),
  };
}

const untried = { sinceTicks: undefined, retryAtTicks: -Infinity, isUnanswered: false, faults: 0 };

/** How long a list row replaces a request: less than a server needs for a restart with a new database, which reuses ids. */
const listedForMs = 30_000;

/**
 * The maximum number of waiting traces, which use about 5 MB. The requests for more traces would take longer than the backlog
 * age.
 */
const maxWaiting = 10_000;
/** The minimum wait for a state that the server is still writing. */
export const pendingRetryMs = 5000;
const maxRetryMs = 60_000;
const faultRetryMs = 15_000;
/** The minimum number of requests for a state before the exporter stops requesting it. */
const minFaults = 10;

/**
 * Sorts pending traces: failures first, newest first. Late traces need no request, so some of them follow each trace that needs
 * requests.
 */
export function toQueueOrder(
  pending: Iterable<PendingTrace>,
  isLate: (pending: PendingTrace) => boolean,
): readonly PendingTrace[] {
  const late: PendingTrace[] = [];
  const bad: PendingTrace[] = [];
  const good: PendingTrace[] = [];
  for (const each of pending) (isLate(each) ? late : each.status === 'succeeded' ? good : bad).push(each);
  const line: PendingTrace[] = [];
  late.sort(newestFirst);
  const latePerQuestion = Math.max(minLatePerQuestion, late.length / 10);
  let placed = 0;
  for (const each of [...bad.sort(newestFirst), ...good.sort(newestFirst)]) {
    line.push(each, ...late.slice(placed, placed + latePerQuestion));
    placed += latePerQuestion;
  }
  return [...line, ...late.slice(placed)];
}

/** A late trace takes milliseconds. With its share of the budget, enrichment sends a request about every second. */
const minLatePerQuestion = 20;

/** Returns the traces beyond the limit: the oldest first, but failures last. */
export function findCrowdedOut(pending: Iterable<PendingTrace>, most: number): readonly PendingTrace[] {
  const good: PendingTrace[] = [];
  const bad: PendingTrace[] = [];
  for (const each of pending) (each.status === 'succeeded' ? good : bad).push(each);
  return [...good, ...bad].slice(0, Math.max(0, good.length + bad.length - most));
}

function newestFirst(one: PendingTrace, other: PendingTrace): number {
  return other.endedAtMs - one.endedAtMs || other.id - one.id;
}

/** Measures the time in which the server could respond. The clock stops while the server is down or refuses the credentials. */
function createSealClock(ticks: () => number) {
  let countedMs = 0;
  let sinceTicks: number | undefined;

  function read(): number {
    return countedMs + (sinceTicks === undefined ? 0 : ticks() - sinceTicks);
  }

  return {
    ticks: read,
    answered: (): void => {
      countedMs = read();
      sinceTicks = ticks();
    },
    /** Call if a request got no response, or the credentials were refused. The clock stops until the next response. */
    silent: (): void => {
      countedMs = read();
      sinceTicks = undefined;
    },
  };
}
