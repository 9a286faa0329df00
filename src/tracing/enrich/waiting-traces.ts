import { type ApiError, isOfWholeServer } from '../../api/errors.ts';
import type { Clock } from '../../domain/clock.ts';
import { type PendingTrace, toPendingKey } from './pending.ts';
import { findCrowdedOut, toQueueOrder } from './queue-order.ts';
import { createSealClock } from './seal-clock.ts';

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
      crowdedOut = new Set(findCrowdedOut(byPending.keys(), mostWaiting));
      const ordered = toQueueOrder(byPending.keys(), isLate).flatMap((pending) => byPending.get(pending) ?? []);
      const isBehind = ({ isUnanswered, pending }: Waiting): boolean => isUnanswered && !isLate(pending);
      return [...ordered.filter((entry) => !isBehind(entry)), ...ordered.filter(isBehind)];
    },
    hasNew: () => hasNew,
    isLate,
    isLastTry: (entry) => {
      // In a long queue a try comes many minutes after the previous one, and two of them say little.
      const isTooEarly = entry.faults > 0 && entry.faults < fewestFaults;
      return toAskedMs(entry) > sealTimeoutMs && !isTooEarly;
    },
    isDue: ({ retryAtTicks }) => retryAtTicks <= clock.ticks(),
    noteAnswer: (entry) => {
      noteAnswer(entry);
      entry.faults = 0;
    },
    postpone: (entry) => {
      const ageMs = toAskedMs(entry);
      const laterMs = Math.min(longestRetryMs, Math.max(pendingRetryMs, ageMs / 4));
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
const mostWaiting = 10_000;
/** The least wait for a state that the server is still writing. */
export const pendingRetryMs = 5000;
const longestRetryMs = 60_000;
const faultRetryMs = 15_000;
/** So often at least a state is asked for before it is given up. */
const fewestFaults = 10;
