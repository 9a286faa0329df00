import type { Activities } from './activities.ts';
import type { Book } from './book.ts';

/** How far behind the project is that was read longest ago; quiet is not lag, and what can not be read is left out. */
export function toLagSeconds(book: Pick<Book, 'states'>, activities: Activities, nowMs: number): number {
  let oldestMs = nowMs;
  for (const { project, hold, scannedThroughMs } of book.states.values()) {
    const isUnshown = activities.all.get(project)?.unshownSinceMs !== undefined;
    if (hold === undefined && !isUnshown) oldestMs = Math.min(oldestMs, scannedThroughMs);
  }
  return (nowMs - oldestMs) / 1000;
}
