import type { Totals } from './series-slots.ts';
import { toCellKey, toJobKey } from './totals.ts';

/**
 * Computes the duration in ms that three of four successful runs of a job did not exceed; its average if the histogram is
 * missing or too small. Undefined for an unknown job.
 */
export function toTypicalDuration(
  totals: Pick<Totals, 'cells' | 'jobs'>,
  [project, group, name]: readonly [project: string, group: string, name: string],
  bounds: readonly number[],
): number | undefined {
  const { count = 0, buckets = [] } =
    totals.cells.get(toCellKey('durations', [project, group, name, 'succeeded'])) ?? {};
  const seconds = count < fewRuns ? undefined : toQuantile(buckets, bounds, count * quantile);
  if (seconds !== undefined) return seconds * 1000;
  return totals.jobs.get(toJobKey(project, group, name))?.averageDurationMs;
}

const quantile = 0.75;
const fewRuns = 4;

/** Undefined in the open bucket, which has no end. */
function toQuantile(counts: readonly number[], bounds: readonly number[], rank: number): number | undefined {
  let below = 0;
  for (const [index, bound] of bounds.entries()) {
    const inside = counts[index] ?? 0;
    if (below + inside >= rank) {
      const from = bounds[index - 1] ?? 0;
      return from + ((bound - from) * (rank - below)) / inside;
    }
    below += inside;
  }
  return undefined;
}
