import type { Clock } from '../../domain/clock.ts';
import { backoffMs } from './backoff.ts';
import type { SenderObserver } from './observer.ts';
import type { Wait } from './pause.ts';

/** Deliveries that fail, and the waits between their tries; reported once when they begin to fail, once when they work again. */
export type Outage = {
  /** The time from which deliveries have been failing, and the reason; undefined while they work. */
  readonly failing: () => Failing | undefined;
  /** Reports whether the last try succeeded: the next one is not delayed. */
  readonly isOver: () => boolean;
  /** Waits longer after each failed try, and at least as long as the OTLP endpoint asked. */
  readonly backOff: (reason: string, askedMs: number | undefined) => Promise<void>;
  readonly recover: () => void;
  /** Retries a use of the state until it succeeds; undefined if the sender is stopped before. */
  readonly insist: <Answer>(work: () => Promise<Answer>) => Promise<Answer | undefined>;
};

export type Failing = { readonly sinceMs: number; readonly reason: string };

type OutageOptions = {
  readonly clock: Pick<Clock, 'now' | 'random'>;
  readonly wait: Wait;
  readonly observe: Pick<SenderObserver, 'failing' | 'recovered'>;
  readonly shorten: (text: string) => string;
  /** Ends all waits. */
  readonly signal: AbortSignal;
};

export function createOutage({ clock, wait, observe, shorten, signal }: OutageOptions): Outage {
  let failing: Failing | undefined;
  let triesInVain = 0;

  async function backOff(why: string, askedMs: number | undefined): Promise<void> {
    if (signal.aborted) return;
    const reason = shorten(why);
    if (failing === undefined) observe.failing(reason);
    failing = { sinceMs: failing?.sinceMs ?? clock.now(), reason };
    await wait(backoffMs(triesInVain++, clock.random(), askedMs), signal);
  }

  return {
    failing: () => failing,
    isOver: () => triesInVain === 0,
    backOff,
    recover: () => {
      triesInVain = 0;
      if (failing === undefined) return;
      failing = undefined;
      observe.recovered();
    },
    insist: async (work) => {
      for (;;) {
        try {
          return await work();
        } catch (error) {
          if (signal.aborted) return undefined;
          await backOff(`the state: ${error instanceof Error ? error.message : String(error)}`, undefined);
        }
      }
    },
  };
}
