import type { Clock } from '../../domain/clock.ts';
import type { Spool, SpoolBounds, SpooledSignal, SpooledTrace } from '../../state/spool.ts';
import { countBytes, takeAlike } from './batch.ts';
import { createSuspects, type Suspect } from './suspects.ts';
import type { Verdict } from './verdict.ts';

/** The next traces to send, or the time until traces may be ready. The list is empty if no trace waits. */
type Found = { readonly traces: readonly SpooledTrace[]; readonly againInMs: number; readonly isEmpty?: boolean };

type SelectionOptions = {
  spool: Pick<Spool, 'next'>;
  gathering: SpoolBounds;
  signal: SpooledSignal;
  clock: Pick<Clock, 'ticks' | 'random'>;
};

/** Selects the traces of each request. The selection depends on the results of earlier requests. */
export function createSelection({ spool, gathering, signal, clock }: SelectionOptions) {
  const batchSize = createBatchSize(gathering.maxBytes);
  const suspects = createSuspects(clock.random);

  return {
    /**
     * Selects the next traces. Suspects (traces that were lost when sent alone) come last. One of them is tried earlier if its
     * wait is over and another trace was delivered since the last loss.
     */
    next: async (isOutage: boolean): Promise<Found> => {
      const suspected = suspects.keys();
      const but = (key: string | undefined): readonly string[] => suspected.filter((other) => other !== key);
      const due = isOutage ? undefined : suspects.due(clock.ticks());
      const bounds = due === undefined ? { ...gathering, maxBytes: batchSize.maxBytes() } : oneTrace;
      const traces = takeAlike(await spool.next(bounds, but(due), signal));
      const next = traces.length > 0 ? undefined : suspects.next(clock.ticks());
      if (next === undefined) return { traces, againInMs: idleMs, isEmpty: traces.length === 0 };
      if ('forMs' in next) return { traces, againInMs: Math.min(idleMs, next.forMs) };
      const lonely = await spool.next(oneTrace, but(next.key), signal);
      // The trace is no longer in the spool, because a user dropped it.
      if (lonely.length === 0) suspects.forget(next.key);
      return { traces: lonely, againInMs: 0 };
    },
    /** Records a failed request. Returns true if other traces must be selected. */
    noteFault: (batch: readonly SpooledTrace[], { isLost, reason }: Verdict & { kind: 'wait' }): boolean => {
      const [only, ...others] = batch;
      const isSuspect = only !== undefined && others.length === 0 && suspects.keys().includes(only.key);
      if (isSuspect && isLost) {
        suspects.lost(only, reason, clock.ticks());
        return true;
      }
      suspects.otherFailed();
      if (!isLost || !batchSize.lost()) return isSuspect;
      if (others.length > 0) batchSize.shrinkFrom(countBytes(batch));
      else if (only !== undefined) suspects.lost(only, reason, clock.ticks());
      return true;
    },
    /** Records a successful request. Returns the suspect that is given up. */
    notePassed: (batch: readonly SpooledTrace[]): Suspect | undefined => {
      batchSize.passed();
      for (const { key } of batch) suspects.forget(key);
      return suspects.otherPassed();
    },
    noteRefused: (batch: readonly SpooledTrace[]): void => {
      suspects.otherFailed();
      for (const { key } of batch) suspects.forget(key);
    },
  };
}

const oneTrace: SpoolBounds = { maxBytes: 0, maxTraces: 1 };
const idleMs = 30_000;

/**
 * Adapts the size of requests, because a proxy may drop large ones without a response. Several losses halve the size,
 * and successes double it again. After each failed doubling, the next doubling comes later.
 */
export function createBatchSize(fullBytes: number) {
  let maxBytes = fullBytes;
  let lost = 0;
  let passed = 0;
  let passesToGrow = 1;
  /** True while no request of the new size was successful. */
  let isProbing = false;

  return {
    maxBytes: (): number => maxBytes,
    /** Call after a successful request. After some successes, a larger size is tried. */
    passed: (): void => {
      lost = 0;
      if (maxBytes >= fullBytes) {
        passesToGrow = 1;
        isProbing = false;
        return;
      }
      passed += 1;
      if (passed < passesToGrow) return;
      passed = 0;
      maxBytes = Math.min(fullBytes, 2 * maxBytes);
      isProbing = true;
    },
    /** Call after the loss of a request with several traces. Returns true if a smaller request must be tried. */
    lost: (): boolean => {
      lost += 1;
      return isProbing || lost >= lossesToShrink;
    },
    shrinkFrom: (bytes: number): void => {
      if (isProbing) passesToGrow = Math.min(maxPasses, 2 * passesToGrow);
      isProbing = false;
      passed = 0;
      maxBytes = Math.max(1, Math.floor(Math.min(bytes, maxBytes) / 2));
    },
  };
}

const lossesToShrink = 5;
/** The maximum number of successes before the size grows: a quarter of an hour, at one request per second. */
const maxPasses = 1024;
