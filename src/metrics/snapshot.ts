import type { Family, LabelPair, Row } from './family.ts';
import { renderSamples } from './render.ts';

/** What a collector brought, ready to be handed out: rendered once, when published. */
export type Segment = { readonly family: Family; readonly samples: string };

export type Snapshot = {
  /** One for each polled thing: the next snapshot of the same source takes its place. */
  readonly source: string;
  /** What it is of, so that a scrape can ask for some of them. */
  readonly server: string;
  readonly collector: string;
  readonly baseLabels: readonly LabelPair[];
  readonly rows: readonly Row[];
  /** For how long it is shown. */
  readonly validForMs: number;
};

export type Snapshots = {
  readonly publish: (snapshot: Snapshot) => Promise<void>;
  readonly withdraw: (source: string) => void;
  /** The segments of all snapshots that are not too old. */
  readonly segments: () => Segment[];
};

/** The latest rows of each source, swapped whole. Their age is told by a clock that only goes forwards. */
export function createSnapshots(ticks: () => number): Snapshots {
  const latest = new Map<string, { readonly segments: readonly Segment[]; readonly validUntilTicks: number }>();
  return {
    publish: async ({ source, baseLabels, rows, validForMs }) => {
      latest.set(source, { segments: toSegments(rows, baseLabels), validUntilTicks: ticks() + validForMs });
    },
    withdraw: (source) => {
      latest.delete(source);
    },
    segments: () => {
      const nowTicks = ticks();
      return [...latest.values()].flatMap(({ segments, validUntilTicks }) =>
        nowTicks < validUntilTicks ? segments : [],
      );
    },
  };
}

/** One segment a family, in order of appearance. */
export function toSegments(rows: readonly Row[], baseLabels: readonly LabelPair[] = []): Segment[] {
  const byFamily = new Map<string, Row[]>();
  for (const row of rows) {
    const rowsOfFamily = byFamily.get(row.family.name);
    if (rowsOfFamily === undefined) byFamily.set(row.family.name, [row]);
    else rowsOfFamily.push(row);
  }
  const segments: Segment[] = [];
  for (const rowsOfFamily of byFamily.values()) {
    const [first] = rowsOfFamily;
    if (first !== undefined) segments.push({ family: first.family, samples: renderSamples(rowsOfFamily, baseLabels) });
  }
  return segments;
}
