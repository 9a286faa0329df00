import { boundRows } from '../../metrics/bound.ts';
import type { Family, LabelPair, Row } from '../../metrics/family.ts';
import { createRowRenderer } from '../../metrics/render.ts';
import type { LedgerDocument } from '../../state/ledger.ts';
import { measure } from '../counting/measure.ts';
import { toJobName } from '../counting/naming.ts';
import { createSeriesSlots, isNoJob, type SeriesSlots, type SlotKind, toNodeKey } from '../counting/series-slots.ts';
import { type Cell, toJobKey } from '../counting/totals.ts';
import { planRoom, type SeriesRules } from '../series/series-plan.ts';
import { toCellRows, withoutBuckets } from '../series/total-rows.ts';
import { readPage } from './pages.ts';

/** A counter or a histogram, with the changes that executions made. */
export type HistorySeries = {
  readonly family: Family;
  /** The lines of the series without values; a histogram has lines for buckets, sum and count. */
  readonly lines: readonly string[];
  /** Alternating times and increases, sorted by time. In a histogram, the increase is a duration in seconds. */
  readonly changes: readonly number[];
};

type Growing = { readonly rows: readonly Row[]; changes: number[] };

/** Counts executions as rounds do, and returns all series, sorted by family, with the labels of scrapes. */
export function toHistorySeries(
  pages: readonly LedgerDocument[],
  { rules, baseLabels }: { rules: SeriesRules; baseLabels: readonly LabelPair[] },
): readonly HistorySeries[] {
  const slots = fillSlots(pages, rules);
  const totals = { cells: new Map<string, Cell>(), jobs: new Map<never, never>(), slots };
  const growing = new Map<string, Growing>();
  const ofCell = new Map<string, Growing | undefined>();
  const measureRules = { buckets: rules.buckets, seenAtMs: 0, startMs: 0 };
  for (const page of pages) {
    for (const [project, run] of readPage(page)) {
      // The totals stay empty, so each measured value is an increase.
      for (const [key, cell] of measure(totals, project, [run], measureRules).cells) {
        if (!ofCell.has(key)) ofCell.set(key, findSeries(growing, cell, rules));
        if (cell.count > 0) ofCell.get(key)?.changes.push(run.endedAtMs, cell.sumSeconds ?? cell.count);
      }
    }
  }
  const series = [...growing.values()].flatMap((one) => {
    const [first] = one.rows;
    if (first === undefined) return [];
    const { family } = first;
    const render = createRowRenderer(family, baseLabels);
    const lines = one.rows.map((row) => render(row).slice(0, -'0\n'.length));
    // Replaces the unsorted pairs immediately, to save memory.
    one.changes = sortPairs(one.changes);
    return [{ family, lines, changes: one.changes }];
  });
  return [...Map.groupBy(series, ({ family }) => family.name).values()].flatMap((ofFamily) =>
    ofFamily.toSorted((one, other) => ((one.lines[0] ?? '') < (other.lines[0] ?? '') ? -1 : 1)),
  );
}

/** Returns the series of a cell of the totals; undefined if its family is off. Several cells may share a series. */
function findSeries(growing: Map<string, Growing>, cell: Cell, { families, buckets }: SeriesRules) {
  const zero = { ...cell, count: 0, sumSeconds: 0, buckets: [] };
  const rows = toCellRows(zero, { ...withoutBuckets, bounds: buckets });
  const bounded = boundRows(rows, { families, maxSeries: Number.POSITIVE_INFINITY }).rows;
  const [first] = bounded;
  if (first === undefined) return undefined;
  const key = JSON.stringify([first.family.name, first.labels]);
  const found = growing.get(key) ?? { rows: bounded, changes: [] };
  growing.set(key, found);
  return found;
}

/** Assigns slots to the jobs and nodes with the latest executions; the order of pages does not matter. */
function fillSlots(pages: readonly LedgerDocument[], rules: SeriesRules): SeriesSlots {
  const projects = new Set<string>();
  const lastMs: Readonly<Record<SlotKind, Map<string, number>>> = {
    jobs: new Map(),
    durations: new Map(),
    nodes: new Map(),
  };
  const note = (kind: SlotKind, key: string, endedAtMs: number) =>
    lastMs[kind].set(key, Math.max(lastMs[kind].get(key) ?? 0, endedAtMs));
  for (const page of pages) {
    for (const [project, run] of readPage(page)) {
      projects.add(project);
      const { group, name } = toJobName(run);
      const key = toJobKey(project, group, name);
      if (!isNoJob(name)) for (const kind of ['jobs', 'durations'] as const) note(kind, key, run.endedAtMs);
      for (const node of run.failedNodes) note('nodes', toNodeKey(project, node), run.endedAtMs);
    }
  }
  const slots = createSeriesSlots([]);
  slots.setRoom(planRoom(rules, { projects: projects.size, projectHistograms: 0 }));
  const claims = slots.claim();
  for (const kind of ['jobs', 'durations', 'nodes'] as const) {
    const latestFirst = [...lastMs[kind]].sort(([one, oneMs], [other, otherMs]) =>
      otherMs === oneMs ? (one < other ? -1 : 1) : otherMs - oneMs,
    );
    for (const [key] of latestFirst) claims.has(kind, key);
  }
  slots.settle(claims);
  return slots;
}

/** Sorts pairs by time and value, so that sums are identical for any order of reading. */
function sortPairs(pairs: readonly number[]): number[] {
  const order = Array.from({ length: pairs.length / 2 }, (_, index) => 2 * index);
  const at = (index: number): number => pairs[index] ?? 0;
  order.sort((one, other) => at(one) - at(other) || at(one + 1) - at(other + 1));
  const sorted: number[] = [];
  for (const index of order) sorted.push(at(index), at(index + 1));
  return sorted;
}
