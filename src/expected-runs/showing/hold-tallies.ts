import type { Clock } from '../../domain/clock.ts';
import type { Tallies } from '../deciding/tally.ts';

/** Finds the tallies that have been shown as 0 for long enough. */
export function createTallyHold(holdMs: number, clock: Pick<Clock, 'ticks'>): (tallies: Tallies) => readonly string[] {
  const shownSince = new Map<string, number>();
  return (tallies) => {
    const nowTicks = clock.ticks();
    const due: string[] = [];
    for (const [key, { isReleased }] of tallies) {
      if (isReleased) continue;
      const since = shownSince.get(key);
      if (since === undefined) shownSince.set(key, nowTicks);
      else if (nowTicks - since >= holdMs) due.push(key);
    }
    for (const key of due) shownSince.delete(key);
    return due;
  };
}
