import { type Ending, type Finished, failedEndings } from '../../domain/execution.ts';
import type { Exemplar } from '../../metrics/family.ts';
import { otherJobs, toEnding, toJobName } from '../counting/naming.ts';
import type { Totals } from '../counting/series-slots.ts';
import { type Cell, toCellKey } from '../counting/totals.ts';

export type TracedRun = {
  readonly run: Finished & { readonly project: string };
  readonly traceId: string;
  readonly spanId: string;
};

export type Exemplars = ReturnType<typeof createExemplars>;

/** Runs that are the exemplars of their duration buckets; in memory only. */
export function createExemplars(bounds: readonly number[]) {
  const known = new Map<string, (Exemplar | undefined)[]>();

  return {
    /** Records a traced run. A future-dated run gets the server time, because its date would displace all other runs. */
    note: ({ run, traceId, spanId }: TracedRun, { cells }: Totals, serverNowMs: number = run.endedAtMs): void => {
      const { project, startedAtMs, endedAtMs } = run;
      const ending = toEnding(run);
      const { group, name } = toJobName(run);
      const own = toCellKey('durations', [project, group, name, ending]);
      const key = cells.has(own) ? own : toCellKey('durations', [project, '', otherJobs, ending]);
      const seconds = (endedAtMs - startedAtMs) / 1000;
      if (seconds < 0 || !cells.has(key)) return;
      const found = bounds.findIndex((bound) => seconds <= bound);
      const bucket = found === -1 ? bounds.length : found;
      const before = known.get(key) ?? [];
      const next: Exemplar = { traceId, spanId, value: seconds, atMs: Math.min(endedAtMs, serverNowMs) };
      if (!isBetter(next, before[bucket], ending)) return;
      const after = Array.from({ length: bounds.length + 1 }, (_, index) => (index === bucket ? next : before[index]));
      known.delete(key);
      known.set(key, after);
      const [oldest] = known.keys();
      if (known.size > maxCells && oldest !== undefined) known.delete(oldest);
    },
    /** Returns the exemplars of a cell in the order of its buckets. */
    of: ({ kind, labels, buckets = [] }: Cell): readonly (Exemplar | undefined)[] => {
      const exemplars = known.get(toCellKey(kind, labels)) ?? [];
      return exemplars.map((exemplar, index) => ((buckets[index] ?? 0) > 0 ? exemplar : undefined));
    },
  };
}

const maxCells = 10_000;
/** How long a slow run stays an exemplar. After an hour a faster run may replace a slow run, whose trace may be gone. */
const slowestForMs = 3_600_000;

/**
 * Decides which run is the exemplar of a bucket: the newest failure, or the slowest of other runs. Prometheus refuses an
 * exemplar that is older than the last exemplar of its series.
 */
function isBetter(next: Exemplar, before: Exemplar | undefined, ending: Ending): boolean {
  if (before === undefined) return true;
  if (next.atMs <= before.atMs) return false;
  return failedEndings.includes(ending) || next.value >= before.value || next.atMs - before.atMs > slowestForMs;
}
