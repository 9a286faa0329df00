import type { RequestHandler } from 'express';
import type { Clock } from '../../domain/clock.ts';
import { createPause, noPause, type Pause } from '../../domain/pause.ts';

export type PageTurns = {
  /** Starts each page in its own turn of the event loop. Refuses a page if too many are in progress. */
  readonly gate: RequestHandler;
  /**
   * Shares an expensive result among all callers while it is made, and afterwards for 20 times as long, at most a second. So
   * making results takes a small share of the time, and a cheap result is always new.
   */
  readonly share: <Value>(make: (pause: Pause) => Promise<Value>) => () => Promise<Value>;
  /** Starts work for one request only. */
  readonly begin: () => Pause;
  readonly shareByName: <Value>(
    make: (name: string, pause: Pause) => Promise<Value>,
  ) => (name: string) => Promise<Value>;
};

type Options = {
  readonly clock: Pick<Clock, 'ticks' | 'after'>;
  /** Waits for a turn of the event loop without other pages. */
  readonly nextTurn: () => Promise<void>;
  /** Returns the number of reloads. When the number of reloads changes, shared results are made again. */
  readonly reloads?: () => number;
  /** Called when the first page is refused. */
  readonly onBusy: () => void;
};

/** Makes pages in pieces, one at a time, so that scrapes and polls can run in between. */
export function createPageTurns({ clock, nextTurn, onBusy, reloads = () => 0 }: Options): PageTurns {
  let underWay = 0;
  let wasBusy = false;

  const gate: RequestHandler = async ({ method }, response, next) => {
    // The client may have left while its password was checked.
    if (response.destroyed) return;
    // Requests with other methods take no place, because their bodies may arrive slowly.
    if (method !== 'GET' && method !== 'HEAD') {
      next();
      return;
    }
    if (underWay >= maxPages) {
      if (!wasBusy) onBusy();
      wasBusy = true;
      response.set({ 'retry-after': '1', 'cache-control': 'no-store' }).status(503).type('text/plain');
      response.send(`Busy: ${maxPages} pages are already in progress. Try again in a second.\n`);
      return;
    }
    underWay += 1;
    let isUnderWay = true;
    const leave = (): void => {
      if (isUnderWay) underWay -= 1;
      isUnderWay = false;
    };
    // A page is in progress only while it is made: slow clients must not block others.
    const end = response.end.bind(response);
    response.end = ((...given: Parameters<typeof end>) => {
      leave();
      return end(...given);
    }) as typeof end;
    response.once('close', leave);
    await nextTurn();
    if (!response.destroyed) next();
  };

  const begin = (): Pause => createPause({ ticks: clock.ticks, nextTurn });

  function share<Value>(make: (pause: Pause) => Promise<Value>): () => Promise<Value> {
    let made: { readonly value: Promise<Value>; readonly afterReloads: number } | undefined;
    const makeAnew = (afterReloads: number): NonNullable<typeof made> => {
      const startedTicks = clock.ticks();
      const forget = (): void => {
        if (made === own) made = undefined;
      };
      const value = make(begin()).finally(() => {
        const reuseMs = Math.min(maxReuseMs, reuseFactor * (clock.ticks() - startedTicks));
        if (reuseMs < 1) forget();
        else clock.after(reuseMs, forget);
      });
      const own = { value, afterReloads };
      return own;
    };
    return async () => {
      const afterReloads = reloads();
      if (made?.afterReloads !== afterReloads) made = makeAnew(afterReloads);
      const value = await made.value;
      // Without a turn for each caller, all waiting callers would continue in the same turn.
      await nextTurn();
      return value;
    };
  }

  function shareByName<Value>(make: (name: string, pause: Pause) => Promise<Value>) {
    const shares = new Map<string, () => Promise<Value>>();
    return (name: string): Promise<Value> => {
      const known = shares.get(name) ?? share((pause) => make(name, pause));
      shares.set(name, known);
      return known();
    };
  }

  return { gate, begin, share, shareByName };
}

/** Makes a new result for each request, without waiting. */
export const unsharedTurns: Omit<PageTurns, 'gate'> = {
  begin: () => noPause,
  share: (make) => () => make(noPause),
  shareByName: (make) => (name) => make(name, noPause),
};

const maxPages = 100;
const reuseFactor = 20;
const maxReuseMs = 1000;
