import type { Api } from '../api/client.ts';
import { type Clock, sleep } from '../domain/clock.ts';

type RequestGapOptions = {
  clock: Pick<Clock, 'ticks' | 'after'>;
  /** The gap that all sweeps of the server share. */
  shared?: SharedGap | undefined;
  /** Returns the API for one request, whose timeout starts now. */
  open: (signal: AbortSignal) => Api;
};

export type RequestGap = ReturnType<typeof createRequestGap>;

export function createRequestGap({ clock, shared, open }: RequestGapOptions) {
  let gapMs = 0;
  let asked = 0;
  let nextTicks = Number.NEGATIVE_INFINITY;

  async function waitForGap(signal: AbortSignal): Promise<void> {
    const leftMs = Math.min(gapMs, nextTicks - clock.ticks());
    if (leftMs > 0) await sleep(clock, leftMs, signal);
    await shared?.take(signal);
    // A late request does not make the next request earlier, because two requests in one gap would be a burst.
    nextTicks = clock.ticks() + gapMs;
    asked += 1;
  }

  return {
    /** Restarts the count of requests, and sets the time between requests. */
    begin: (distanceMs: number): void => {
      gapMs = distanceMs;
      asked = 0;
    },
    /** Returns an API that sends each request after its gap, with the timeout of one request. */
    api: (signal: AbortSignal): Api => ({
      get: async (endpoint, ...input) => {
        await waitForGap(signal);
        return open(signal).get(endpoint, ...input);
      },
      getTimed: async (endpoint, ...input) => {
        await waitForGap(signal);
        return open(signal).getTimed(endpoint, ...input);
      },
      supports: (endpoint) => open(signal).supports(endpoint),
      server: () => open(signal).server(),
    }),
    asked: (): number => asked,
  };
}

/** Shares one gap among all sweeps over a server. */
export type SharedGap = { readonly take: (signal: AbortSignal) => Promise<void> };

type SharedGapOptions = { clock: Pick<Clock, 'ticks' | 'after'>; gapMs: number };

/** Permits one request in each gap, in the order of calls. A late request does not make the next request earlier. */
export function createSharedGap({ clock, gapMs }: SharedGapOptions): SharedGap {
  let nextTicks = Number.NEGATIVE_INFINITY;
  return {
    take: async (signal) => {
      const nowTicks = clock.ticks();
      const startTicks = Math.max(nowTicks, nextTicks);
      nextTicks = startTicks + gapMs;
      if (startTicks > nowTicks) await sleep(clock, startTicks - nowTicks, signal);
    },
  };
}
