import type { Clock } from '../domain/clock.ts';
import { type Block, emptyBlock, joinBlocks, toBlockNow } from './block.ts';
import type { Family, LabelPair, Row } from './family.ts';
import type { Format, TextFormat } from './format.ts';
import { renderHeader } from './render.ts';
import {
  createTurns,
  joinMessages,
  listBlocks,
  renderSegments,
  type Segment,
  type ToBlock,
  translateSegments,
} from './segment.ts';

export type Snapshot = {
  /** Identifies the source of the rows. A new snapshot replaces the previous snapshot of the same source. */
  readonly source: string;
  /** The server of the rows, which a scrape can select. */
  readonly server: string;
  readonly collector: string;
  readonly baseLabels: readonly LabelPair[];
  readonly rows: readonly Row[];
  readonly validForMs: number;
};

/** The selection of a scrape; everything by default. */
export type Selection = { readonly servers?: ReadonlySet<string>; readonly collectors?: ReadonlySet<string> };

/** Stores the latest rows of each source. Rows are rendered when they are published, and replaced as a whole. */
export function createSnapshots(clock: Pick<Clock, 'ticks' | 'nextTurn'>, toBlock?: ToBlock) {
  const { ticks } = clock;
  const latest = new Map<string, Rendered>();
  const publishing = new Map<string, symbol>();
  const headers = new Map<string, Header>();
  const nextTurn = createTurns(clock.nextTurn);
  let everything: Shown | undefined;
  let translatedUntilTicks = Number.NEGATIVE_INFINITY;

  function dropOld(nowTicks: number): void {
    for (const [source, { validUntilTicks }] of latest) {
      if (nowTicks >= validUntilTicks) latest.delete(source);
    }
  }

  return {
    /** Resolves when scrapes can read the rows, or when newer rows have replaced them. */
    publish: async ({ source, server, collector, baseLabels, rows, validForMs }: Snapshot) => {
      const own = Symbol(source);
      publishing.set(source, own);
      const validUntilTicks = ticks() + validForMs;
      const earlier = latest.get(source)?.segments;
      const segments = await renderSegments(rows, baseLabels, { nextTurn, toBlock, earlier });
      if (ticks() < translatedUntilTicks) await translateSegments(segments, { nextTurn, toBlock });
      // The blocks are dropped if a newer snapshot exists, or the published snapshot was withdrawn.
      if (publishing.get(source) !== own) return;
      publishing.delete(source);
      for (const { family } of segments) {
        if (!headers.has(family.name)) headers.set(family.name, toHeader(family));
      }
      latest.set(source, { server, collector, segments, validUntilTicks });
      everything = undefined;
    },
    withdraw: (source: string) => {
      publishing.delete(source);
      if (latest.delete(source)) everything = undefined;
    },
    /** Prepares protocol buffers now, and whenever rows are published. */
    translate: async (selection: Selection = {}) => {
      translatedUntilTicks = ticks() + translatedForMs;
      const wanted = [...latest.values()].filter(isOf(selection));
      await translateSegments(
        wanted.flatMap(({ segments }) => segments),
        { nextTurn, toBlock },
      );
    },
    /** Renders all valid snapshots: families sorted by name, each with its header. */
    show: (format: Format, selection?: Selection) => {
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

/** How long rows are also published as protocol buffers after the last request for them. */
const translatedForMs = 600_000;

export type Snapshots = ReturnType<typeof createSnapshots>;

type Rendered = Pick<Snapshot, 'server' | 'collector'> & { segments: readonly Segment[]; validUntilTicks: number };

type Header = Readonly<Record<TextFormat, Block>>;

/** The joined blocks, which all scrapes share until a snapshot is added, removed or expires. */
type Shown = { untilTicks: number; blocks: Partial<Record<Format, Block>> };

function isOf({ servers, collectors }: Selection): (snapshot: Rendered) => boolean {
  return ({ server, collector }) => servers?.has(server) !== false && collectors?.has(collector) !== false;
}

function joinFamilies(snapshots: readonly Rendered[], headers: ReadonlyMap<string, Header>, format: Format): Block {
  const segments = snapshots.flatMap((snapshot) => snapshot.segments);
  if (format === 'protobuf') return joinMessages(segments);
  return joinBlocks(listBlocks(segments, format, ({ name }) => headers.get(name)?.[format] ?? emptyBlock));
}

function toHeader(family: Family): Header {
  return {
    text: toBlockNow(renderHeader(family, 'text')),
    openmetrics: toBlockNow(renderHeader(family, 'openmetrics')),
  };
}
