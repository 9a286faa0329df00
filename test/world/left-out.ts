import type { Execution } from '../../simulator/world/installation.ts';
import { minuteMs } from '../support/durations.ts';
import { mayCountLeftOut, reloadedWithinMs, type Truth } from './pardons.ts';
import { isUnknownToCopy } from './restored-copies.ts';
import type { TruthBook } from './scene.ts';

/** Reports whether the project of a run was excluded around its end. */
export function isOfExcludedProject(scene: Truth, execution: Execution): boolean {
  const { truth } = scene;
  const endedMs = execution.end?.atMs ?? 0;
  return (
    !mayCountLeftOut(scene, execution) &&
    truth.excluded.some(
      (left) =>
        left.of === execution.project &&
        left.fromMs < endedMs - minuteMs &&
        left.toMs > endedMs + minuteMs &&
        canBeStored(truth, left),
    )
  );
}

/** Reports whether a change could be stored at any time. */
function canBeStored({ troubles }: TruthBook, { fromMs, toMs }: TruthBook['excluded'][number]): boolean {
  return troubles.every(
    (disk) => disk.what !== 'disk' || disk.fromMs > fromMs + minuteMs || disk.toMs < toMs - minuteMs,
  );
}

/** Reports whether a job was excluded when its run was read, if this is known. */
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

/** Reports whether a run was read after the limit of series fell. */
export function isShownSurely({ truth }: Truth, execution: Execution): boolean {
  const firstMs = truth.readAt.get(execution)?.[0] ?? 0;
  return truth.fewerSinceMs === undefined || firstMs > truth.fewerSinceMs + reloadedWithinMs;
}
