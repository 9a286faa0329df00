import type { Exemplar } from '../../metrics/family.ts';
import { type Ending, otherJobs, toEnding, toJobName } from '../counting/naming.ts';
import type { Finished } from '../counting/reconcile.ts';
import type { Totals } from '../counting/series-slots.ts';
import { type Cell, toCellKey } from '../counting/totals.ts';

/** A counted run whose trace is made. */
export type TracedRun = {
  readonly run: Finished & { readonly project: string };
  readonly traceId: string;
  readonly spanId: string;
};

/** Runs that stand for their buckets of durations; only those of this process. */
export type Exemplars = {
  /** Runs that are dated ahead of the server's time, where that is known, count as of that time: they would keep out all until then. */
  readonly note: (traced: TracedRun, totals: Totals, serverNowMs?: number) => void;
  /** In the order of the cell's buckets. */
  readonly of: (cell: Cell) => readonly (Exemplar | undefined)[];
};

export function createExemplars(bounds: readonly number[]): Exemplars {
  const known = new Map<string, (Exemplar | undefined)[]>();

  return {
    note: ({ run, traceId, spanId }, { cells }, serverNowMs = run.endedAtMs) => {
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
    of: ({ kind, labels, buckets = [] }) => {
      const exemplars = known.get(toCellKey(kind, labels)) ?? [];
      return exemplars.map((exemplar, index) => ((buckets[index] ?? 0) > 0 ? exemplar : undefined));
    },
  };
}

const maxCells = 10_000;
/** After that a slower run of before makes room: its trace may be gone. */
const slowestForMs = 3_600_000;
const failures: readonly Ending[] = ['failed', 'timedout', 'other'];

/**
 * Time only goes forwards: storages of exemplars refuse what is older than what they have. Of failures the newest is worth a
 * look, of the others the slowest.
 */
function isBetter(next: Exemplar, before: Exemplar | undefined, ending: Ending): boolean {
  if (before === undefined) return true;
  if (next.atMs <= before.atMs) return false;
  return failures.includes(ending) || next.value >= before.value || next.atMs - before.atMs > slowestForMs;
}
