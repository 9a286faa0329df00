import type { Api } from '../api/client.ts';
import { type Clock, sleep } from '../domain/clock.ts';
import type { Turns } from './turns.ts';

type PaceOptions = {
  readonly clock: Pick<Clock, 'ticks' | 'after'>;
  /** Shared with the other sweeps over the server. */
  readonly turns?: Turns | undefined;
  /** The API for one request: its time begins when it is asked for. */
  readonly open: (signal: AbortSignal) => Api;
};

/** Requests that keep a distance from one another, however many of them a pass needs. */
export type Pace = {
  /** Counts anew and keeps this distance from now on. */
  readonly begin: (gapMs: number) => void;
  /** The API, every request at its turn and with the time of one request. */
  readonly api: (signal: AbortSignal) => Api;
  /** How many requests there were since it began. */
  readonly asked: () => number;
};

export function createPace({ clock, turns, open }: PaceOptions): Pace {
  let gapMs = 0;
  let asked = 0;
  let nextTicks = Number.NEGATIVE_INFINITY;

  async function takeTurn(signal: AbortSignal): Promise<void> {
    const leftMs = Math.min(gapMs, nextTicks - clock.ticks());
    if (leftMs > 0) await sleep(clock, leftMs, signal);
    await turns?.take(signal);
    // What was late is not made up for: that would be a burst.
    nextTicks = clock.ticks() + gapMs;
    asked += 1;
  }

  return {
    begin: (distanceMs) => {
      gapMs = distanceMs;
      asked = 0;
    },
    api: (signal) => ({
      get: async (endpoint, ...input) => {
        await takeTurn(signal);
        return open(signal).get(endpoint, ...input);
      },
      getTimed: async (endpoint, ...input) => {
        await takeTurn(signal);
        return open(signal).getTimed(endpoint, ...input);
      },
      supports: (endpoint) => open(signal).supports(endpoint),
      server: () => open(signal).server(),
    }),
    asked: () => asked,
  };
}
