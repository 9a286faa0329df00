import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';

/** Turns that all sweeps over one server take together, so that many of them ask no more than one alone. */
export type Turns = { readonly take: (signal: AbortSignal) => Promise<void> };

type TurnsOptions = {
  readonly clock: Pick<Clock, 'ticks'>;
  readonly gapMs: number;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** One turn every so often, first come, first served; what was late is not made up for. */
export function createTurns({ clock, gapMs, wait = pauseFor }: TurnsOptions): Turns {
  let nextTicks = Number.NEGATIVE_INFINITY;
  return {
    take: async (signal) => {
      const nowTicks = clock.ticks();
      const turnTicks = Math.max(nowTicks, nextTicks);
      nextTicks = turnTicks + gapMs;
      if (turnTicks > nowTicks) await wait(turnTicks - nowTicks, signal);
    },
  };
}

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal });
}
