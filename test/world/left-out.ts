import type { Execution } from '../../simulator/world/installation.ts';
import { isUnknownToCopy, reloadedWithinMs, type Truth } from './pardons.ts';
import type { TruthBook } from './scene.ts';

const minuteMs = 60_000;

/** Reports whether a run is of a project that was left out of the configuration well before it ended, and well after. */
export function isOfExcludedProject({ truth }: Truth, { project, end }: Execution): boolean {
  const endedMs = end?.atMs ?? 0;
  // A daemon that was not there has seen nothing of it, and a copy of before knows nothing of it. Once the clock is set back to
  // before its end, it may be a run after that.
  const isSeen = truth.troubles.every(
    ({ what, fromMs, toMs, byMs = 0 }) =>
      what !== 'restored' &&
      (what !== 'daemon' || fromMs > endedMs + minuteMs || toMs < endedMs - minuteMs) &&
      (fromMs < endedMs || fromMs + Math.min(byMs, 0) > endedMs - minuteMs),
  );
  return (
    isSeen &&
    truth.excluded.some(
      (left) =>
        left.of === project &&
        left.fromMs < endedMs - minuteMs &&
        left.toMs > endedMs + minuteMs &&
        canBeStored(truth, left),
    )
  );
}

/** Reports whether the disk had room for the change at some time. A change that nothing could store leaves no trace. */
function canBeStored({ troubles }: TruthBook, { fromMs, toMs }: TruthBook['excluded'][number]): boolean {
  return troubles.every(
    (disk) => disk.what !== 'disk' || disk.fromMs > fromMs + minuteMs || disk.toMs < toMs - minuteMs,
  );
}

/** Reports whether a job was left out of the configuration when its run was read, if that is known. */
export function isOfExcludedJob({ truth }: Truth, execution: Execution): boolean | undefined {
  const { job, end } = execution;
  if (isUnknownToCopy({ truth }, job)) return undefined;
  const read = truth.readAt.get(execution) ?? [];
  let isExcluded: boolean | undefined = false;
  for (const { of, by, fromMs, toMs } of truth.excluded) {
    if (of !== job || by !== 'configuration') continue;
    const isBefore = read.some((atMs) => atMs < fromMs - reloadedWithinMs);
    const isWithin = read.every((atMs) => atMs > fromMs + reloadedWithinMs) && (read[0] ?? toMs) < toMs - minuteMs;
    if (isBefore || (end?.visibleAtMs ?? 0) > toMs + reloadedWithinMs) continue;
    const hasLived = truth.troubles.every(({ what }) => what !== 'daemon' && what !== 'restored' && what !== 'disk');
    if (isWithin && hasLived) return true;
    isExcluded = undefined;
  }
  return isExcluded;
}

/** Reports whether a run was counted when there was no room for each job, or after it: it is shown by its job or with all others. */
export function isShownSurely({ truth }: Truth, execution: Execution): boolean {
  const firstMs = truth.readAt.get(execution)?.[0] ?? 0;
  return truth.fewerSinceMs === undefined || firstMs > truth.fewerSinceMs + reloadedWithinMs;
}
