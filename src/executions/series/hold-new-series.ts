import type { Clock } from '../../domain/clock.ts';
import type { Cell } from '../counting/totals.ts';
import type { LedgerCache } from '../ledger/ledger-cache.ts';

export type NewSeriesHold = {
  /** Marks what has been shown as 0 for long enough: from now on its value is shown, after a restart too. */
  readonly due: (isShown: (cell: Cell) => boolean) => Promise<void>;
};

/** New series appear as 0 and get their value a while later, so that a scraper sees their first step. */
export function createNewSeriesHold(
  cache: LedgerCache,
  holdMs: number,
  clock: Pick<Clock, 'ticks' | 'nextTurn'>,
): NewSeriesHold {
  const shownSince = new Map<string, number>();

  function findDue(isShown: (cell: Cell) => boolean): string[] {
    const nowTicks = clock.ticks();
    const due: string[] = [];
    for (const [key, cell] of cache.totals.cells) {
      if (cell.isReleased) continue;
      if (!isShown(cell)) {
        // A scraper that has lost sight of it has to see the 0 again.
        shownSince.delete(key);
        continue;
      }
      const since = shownSince.get(key);
      if (since === undefined) shownSince.set(key, nowTicks);
      else if (nowTicks - since >= holdMs) due.push(key);
    }
    return due;
  }

  function release(key: string): Cell[] {
    const cell = cache.totals.cells.get(key);
    return cell === undefined ? [] : [{ ...cell, isReleased: true }];
  }

  return {
    due: async (isShown) => {
      const due = findDue(isShown);
      // After a first start all series become due at once, and one long transaction would hold up all others.
      for (let begin = 0; begin < due.length; begin += maxAtOnce) {
        if (begin > 0) await clock.nextTurn();
        const keys = due.slice(begin, begin + maxAtOnce);
        await cache.update(async () => ({ cells: keys.flatMap(release) }));
        for (const key of keys) shownSince.delete(key);
      }
    },
  };
}

const maxAtOnce = 500;
