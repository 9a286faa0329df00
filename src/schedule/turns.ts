import { type Clock, sleep } from '../domain/clock.ts';

/** Turns that all sweeps over one server take together, so that many of them ask no more than one alone. */
export type Turns = { readonly take: (signal: AbortSignal) => Promise<void> };

type TurnsOptions = {
  readonly clock: Pick<Clock, 'ticks' | 'after'>;
  readonly gapMs: number;
};

/** One turn every so often, first come, first served; what was late is not made up for. */
export function createTurns({ clock, gapMs }: TurnsOptions): Turns {
  let nextTicks = Number.NEGATIVE_INFINITY;
  return {
    take: async (signal) => {
      const nowTicks = clock.ticks();
      const turnTicks = Math.max(nowTicks, nextTicks);
      nextTicks = turnTicks + gapMs;
      if (turnTicks > nowTicks) await sleep(clock, turnTicks - nowTicks, signal);
    },
  };
}
