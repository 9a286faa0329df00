import { type ApiError, isOfWholeServer } from '../../api/errors.ts';
import type { Clock } from '../../domain/clock.ts';
import { type PendingTrace, toPendingKey } from './pending.ts';

/** A pending trace in the queue, with the results of its tries. */
export type Waiting = {
  readonly pending: PendingTrace;
  /** The time on the seal clock at which a request for it was first answered. */
  sinceTicks: number | undefined;
  retryAtTicks: number;
  /** It was asked for, and no answer came. */
  isUnanswered: boolean;
  /** The number of its tries that ended in a fault of the server, one after the other. */
  faults: number;
};

export type WaitingTraces = {
  readonly add: (pending: readonly PendingTrace[]) => void;
  readonly remove: (pending: PendingTrace) => void;
  readonly size: () => number;
  /** Returns the queue, ordered. A few that the server never answers come after all others, which they must not hold up. */
  readonly inOrder: () => readonly Waiting[];
  /** Reports whether an execution arrived after the queue was ordered: it may be more urgent than the next one. */
  readonly hasNew: () => boolean;
  /** Reports whether a trace has waited too long for its steps, or in a queue that is too long. */
  readonly isLate: (pending: PendingTrace) => boolean;
  /** Reports whether a state that the server is still writing is waited for no longer. */
  readonly isLastTry: (entry: Waiting) => boolean;
  readonly isDue: (entry: Waiting) => boolean;
  readonly noteAnswer: (entry: Waiting) => void;
  /** Asks again later; the longer it has been waited for, the later. */
  readonly postpone: (entry: Waiting) => void;
  /** Asks again after a fault of ours. */
  readonly postponeAfterFault: (entry: Waiting) => void;
  /** Asks again after a fault of the server; who is not answered goes to the back of the queue. */
  readonly noteApiFault: (entry: Waiting, fault: ApiError) => void;
};

type WaitingOptions = {
  readonly clock: Pick<Clock, 'now' | 'ticks'>;
  readonly sealTimeoutMs: number;
  readonly backlogAgeMs: number;
};

/** The queue of executions whose traces are not made yet, and the time at which each is tried again. */
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

  /**
   * Returns the time for which it has been asked for: what stood in our own queue did not wait for a state, and in all it waits
   * no longer than the backlog may.
   */
  function toAskedMs(entry: Waiting): number {
    return entry.sinceTicks === undefined ? 0 : sealClock.ticks() - entry.sinceTicks;
  }

  function postponeAfterFault(entry: Waiting): void {
    entry.retryAtTicks = clock.ticks() + faultRetryMs;
  }

  return {
    add: (pending) => {
      for (const each of pending) {
        const entry = { pending: each, sinceTicks: undefined, retryAtTicks: 0, isUnanswered: false, faults: 0 };
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
      // In a long queue a try comes many minutes after the previous one, and two of them say little.
      const isTooEarly = entry.faults > 0 && entry.faults < minFaults;
      return toAskedMs(entry) > sealTimeoutMs && !isTooEarly;
    },
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
      // A request that was not sent is not a fault of this one.
      if (isUnsent) return;
      entry.isUnanswered = true;
      entry.faults += 1;
    },
  };
}

/** The time since each was seen. Once it is in the queue, the clock on the wall may be set: it makes none of them late. */
function createAges({ now, ticks }: WaitingOptions['clock']) {
  const seenTicks = new WeakMap<PendingTrace, number>();
  return {
    begin: (pending: PendingTrace): void => {
      seenTicks.set(pending, ticks() - Math.max(0, now() - pending.seenAtMs));
    },
    of: (pending: PendingTrace): number => ticks() - (seenTicks.get(pending) ?? ticks()),
  };
}

/** More than are asked for within the backlog age; about 5 MB. */
const maxWaiting = 10_000;
/** The least wait for a state that the server is still writing. */
export const pendingRetryMs = 5000;
const maxRetryMs = 60_000;
const faultRetryMs = 15_000;
/** So often at least a state is asked for before it is given up. */
const minFaults = 10;

/**
 * Orders pending traces: failures first, then the others, each with the newest first, because somebody may be looking for it
 * now. Traces that have waited too long need no request and go between the others: a few are made after each request.
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

/** Making a trace without a question takes milliseconds, a question at the share of enrichment about one second. */
const minLatePerQuestion = 20;

/** Returns what a queue holds beyond its limit: those that came first, and failures only where nothing else is left. */
export function findCrowdedOut(pending: Iterable<PendingTrace>, most: number): readonly PendingTrace[] {
  const good: PendingTrace[] = [];
  const bad: PendingTrace[] = [];
  for (const each of pending) (each.status === 'succeeded' ? good : bad).push(each);
  return [...good, ...bad].slice(0, Math.max(0, good.length + bad.length - most));
}

function newestFirst(one: PendingTrace, other: PendingTrace): number {
  return other.endedAtMs - one.endedAtMs || other.id - one.id;
}

/**
 * Measures the time in which a server could have answered: waits for a state do not go on while the server is down, or rejects
 * us.
 */
type SealClock = {
  readonly ticks: () => number;
  /** The server answered, whatever it said of one execution. */
  readonly answered: () => void;
  /** It did not, or took no credentials: the clock stands still until the next answer. */
  readonly silent: () => void;
};

function createSealClock(ticks: () => number): SealClock {
  let countedMs = 0;
  let sinceTicks: number | undefined;

  function read(): number {
    return countedMs + (sinceTicks === undefined ? 0 : ticks() - sinceTicks);
  }

  return {
    ticks: read,
    answered: () => {
      countedMs = read();
      sinceTicks = ticks();
    },
    silent: () => {
      countedMs = read();
      sinceTicks = undefined;
    },
  };
}
