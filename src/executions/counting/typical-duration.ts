import type { Totals } from './series-slots.ts';
import { toCellKey, toJobKey } from './totals.ts';

/**
 * Computes the duration in ms that three of four of the last successful runs of a job did not exceed; of all of them if the
 * last are not kept, or its average if there are few. Undefined for an unknown job.
 */
export function toTypicalDuration(
  totals: Pick<Totals, 'cells' | 'jobs'>,
  [project, group, name]: readonly [project: string, group: string, name: string],
  bounds: readonly number[],
): number | undefined {
  const facts = totals.jobs.get(toJobKey(project, group, name));
  const last = facts?.drift?.tenths.slice(-lastRuns).sort((one, other) => one - other) ?? [];
  if (last.length >= fewRuns) return (last[Math.ceil(last.length * quantile) - 1] ?? 0) * 100;
  const { count = 0, buckets = [] } =
    totals.cells.get(toCellKey('durations', [project, group, name, 'succeeded'])) ?? {};
  const seconds = count < fewRuns ? undefined : toQuantile(buckets, bounds, count * quantile);
  if (seconds !== undefined) return seconds * 1000;
  return facts?.averageDurationMs;
}

const quantile = 0.75;
const fewRuns = 4;
const lastRuns = 20;

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
