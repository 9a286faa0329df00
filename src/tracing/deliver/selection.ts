import type { Clock } from '../../domain/clock.ts';
import type { Spool, SpoolBounds, SpooledTrace } from '../../state/spool.ts';
import { countBytes, takeAlike } from './batch.ts';
import { createBatchSize } from './batch-size.ts';
import { createSuspects, type Suspect } from './suspects.ts';
import type { Verdict } from './verdict.ts';

/** The next traces to send, or the time after which there may be some. */
export type Found = { readonly traces: readonly SpooledTrace[]; readonly againInMs: number };

/** Selects the traces of each request by what became of the requests before. */
export type Selection = {
  /** Lost traces come after all others, except one at a time, right after others got through. */
  readonly next: (isOutage: boolean) => Promise<Found>;
  /** Notes a fault; reports whether to select again instead of repeating the request. */
  readonly noteFault: (batch: readonly SpooledTrace[], verdict: Verdict & { kind: 'wait' }) => boolean;
  /** Notes that a request got through; returns the trace that is given up by now. */
  readonly notePassed: (batch: readonly SpooledTrace[]) => Suspect | undefined;
  readonly noteRefused: (batch: readonly SpooledTrace[]) => void;
};

type SelectionOptions = {
  readonly spool: Pick<Spool, 'next'>;
  /** The largest size of one request. */
  readonly gathering: SpoolBounds;
  readonly clock: Pick<Clock, 'ticks' | 'random'>;
};

export function createSelection({ spool, gathering, clock }: SelectionOptions): Selection {
  const batchSize = createBatchSize(gathering.maxBytes);
  const suspects = createSuspects(clock.random);

  return {
    next: async (isOutage) => {
      const suspected = suspects.keys();
      const but = (key: string | undefined): readonly string[] => suspected.filter((other) => other !== key);
      const due = isOutage ? undefined : suspects.due(clock.ticks());
      const bounds = due === undefined ? { ...gathering, maxBytes: batchSize.maxBytes() } : oneTrace;
      const traces = takeAlike(await spool.next(bounds, but(due)));
      const next = traces.length > 0 ? undefined : suspects.next(clock.ticks());
      if (next === undefined) return { traces, againInMs: idleMs };
      if ('forMs' in next) return { traces, againInMs: Math.min(idleMs, next.forMs) };
      const lonely = await spool.next(oneTrace, but(next.key));
      // A person has dropped it.
      if (lonely.length === 0) suspects.forget(next.key);
      return { traces: lonely, againInMs: 0 };
    },
    noteFault: (batch, { isLost, reason }) => {
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
    notePassed: (batch) => {
      batchSize.passed();
      for (const { key } of batch) suspects.forget(key);
      return suspects.otherPassed();
    },
    noteRefused: (batch) => {
      suspects.otherFailed();
      for (const { key } of batch) suspects.forget(key);
    },
  };
}

const oneTrace: SpoolBounds = { maxBytes: 0, maxTraces: 1 };
const idleMs = 30_000;
