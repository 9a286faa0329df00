import type { Clock } from '../../domain/clock.ts';
import type { Cell } from '../counting/totals.ts';
import type { LedgerCache } from '../ledger/ledger-cache.ts';

export type NewSeriesHold = {
  /** Marks cells that were shown as 0 for long enough: from now on, their values are shown. */
  readonly due: (isShown: (cell: Cell) => boolean) => Promise<void>;
};

/** Shows a new series as 0 first and its value later, so that Prometheus sees the first increase. */
export function createNewSeriesHold(
  cache: LedgerCache,
  holdMs: number,
  clock: Pick<Clock, 'awakeTicks' | 'nextTurn'>,
): NewSeriesHold {
  const shownSince = new Map<string, number>();

  function findDue(isShown: (cell: Cell) => boolean): string[] {
    const nowTicks = clock.awakeTicks();
    const due: string[] = [];
    for (const [key, cell] of cache.totals.cells) {
      if (cell.isReleased) continue;
      if (!isShown(cell)) {
        // If Prometheus lost the series, it must see the 0 again.
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
      // After the first start all series become due at once, and one long transaction would delay all others.
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
