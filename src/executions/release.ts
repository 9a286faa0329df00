import type { Book } from './book.ts';
import type { Cell } from './totals.ts';

export type Release = {
  /** Marks what has been shown as 0 for long enough: from now on its value is shown, after a restart too. */
  readonly due: () => Promise<void>;
  /** Whether something waits for it. */
  readonly isPending: () => boolean;
};

/** New series appear as 0 and get their value a while later, so that a scraper sees their first step. */
export function createRelease(book: Book, holdMs: number, ticks: () => number): Release {
  const shownSince = new Map<string, number>();

  return {
    due: async () => {
      const nowTicks = ticks();
      const released: Cell[] = [];
      for (const [key, cell] of book.totals.cells) {
        if (cell.isReleased) continue;
        const since = shownSince.get(key);
        if (since === undefined) shownSince.set(key, nowTicks);
        else if (nowTicks - since >= holdMs) released.push({ ...cell, isReleased: true });
      }
      if (released.length === 0) return;
      await book.update(async () => ({ cells: released }));
      for (const key of shownSince.keys()) if (book.totals.cells.get(key)?.isReleased === true) shownSince.delete(key);
    },
    isPending: () => shownSince.size > 0,
  };
}
