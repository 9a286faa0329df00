import type { Clock } from '../domain/clock.ts';
import { type Block, emptyBlock, joinBlocks, toBlockNow } from './block.ts';
import type { Family, LabelPair, Row } from './family.ts';
import { createTurns } from './forget.ts';
import type { Format } from './format.ts';
import { renderHeader } from './render.ts';
import { listBlocks, renderSegments, type Segment, type ToBlock } from './segment.ts';

export type Snapshot = {
  /** One for each polled thing: the next snapshot of the same source takes its place. */
  readonly source: string;
  /** The owner of the rows, so that a scrape can select them. */
  readonly server: string;
  readonly collector: string;
  readonly baseLabels: readonly LabelPair[];
  readonly rows: readonly Row[];
  /** For how long it is shown. */
  readonly validForMs: number;
};

/** The selection of a scrape; everything by default. */
export type Selection = {
  readonly servers?: ReadonlySet<string>;
  readonly collectors?: ReadonlySet<string>;
};

export type Snapshots = {
  /** Ends once the rows can be scraped, or are out of date already. */
  readonly publish: (snapshot: Snapshot) => Promise<void>;
  readonly withdraw: (source: string) => void;
  /** Renders all snapshots that are not too old: families sorted by name, each with its header. */
  readonly show: (format: Format, selection?: Selection) => Block;
};

/** The latest rows of each source, rendered when published and swapped whole. Their age is told by a clock that only goes forwards. */
export function createSnapshots(clock: Pick<Clock, 'ticks' | 'nextTurn'>, toBlock?: ToBlock): Snapshots {
  const { ticks } = clock;
  const latest = new Map<string, Rendered>();
  const publishing = new Map<string, symbol>();
  const headers = new Map<string, Header>();
  const nextTurn = createTurns(clock.nextTurn);
  let everything: Shown | undefined;

  function dropOld(nowTicks: number): void {
    for (const [source, { validUntilTicks }] of latest) {
      if (nowTicks >= validUntilTicks) latest.delete(source);
    }
  }

  return {
    publish: async ({ source, server, collector, baseLabels, rows, validForMs }) => {
      const own = Symbol(source);
      publishing.set(source, own);
      const validUntilTicks = ticks() + validForMs;
      const earlier = latest.get(source)?.segments;
      const segments = await renderSegments(rows, baseLabels, { nextTurn, toBlock, earlier });
      // A newer one, or a withdrawal, came meanwhile.
      if (publishing.get(source) !== own) return;
      publishing.delete(source);
      for (const { family } of segments) {
        if (!headers.has(family.name)) headers.set(family.name, toHeader(family));
      }
      latest.set(source, { server, collector, segments, validUntilTicks });
      everything = undefined;
    },
    withdraw: (source) => {
      publishing.delete(source);
      if (latest.delete(source)) everything = undefined;
    },
    show: (format, selection) => {
      const nowTicks = ticks();
      if (everything !== undefined && nowTicks >= everything.untilTicks) everything = undefined;
      if (everything === undefined) dropOld(nowTicks);
      if (selection?.servers !== undefined || selection?.collectors !== undefined) {
        return joinFamilies([...latest.values()].filter(isOf(selection)), headers, format);
      }
      everything ??= {
        untilTicks: Math.min(...[...latest.values()].map(({ validUntilTicks }) => validUntilTicks)),
        blocks: {},
      };
      everything.blocks[format] ??= joinFamilies([...latest.values()], headers, format);
      return everything.blocks[format];
    },
  };
}

type Rendered = Pick<Snapshot, 'server' | 'collector'> & {
  readonly segments: readonly Segment[];
  readonly validUntilTicks: number;
};

type Header = Readonly<Record<Format, Block>>;

/** Joined once for all scrapes until a snapshot comes, goes or grows too old. */
type Shown = { readonly untilTicks: number; readonly blocks: Partial<Record<Format, Block>> };

function isOf({ servers, collectors }: Selection): (snapshot: Rendered) => boolean {
  return ({ server, collector }) => servers?.has(server) !== false && collectors?.has(collector) !== false;
}

function joinFamilies(snapshots: readonly Rendered[], headers: ReadonlyMap<string, Header>, format: Format): Block {
  const segments = snapshots.flatMap((snapshot) => snapshot.segments);
  return joinBlocks(listBlocks(segments, format, ({ name }) => headers.get(name)?.[format] ?? emptyBlock));
}

function toHeader(family: Family): Header {
  return {
    text: toBlockNow(renderHeader(family, 'text')),
    openmetrics: toBlockNow(renderHeader(family, 'openmetrics')),
  };
}
