import { type Block, joinBlocks, toBlock as toBlockBesideLoop } from './block.ts';
import type { Family, LabelPair, Row } from './family.ts';
import type { Format } from './format.ts';
import { addExemplar, createRowRenderer } from './render.ts';

/** The samples of one family in one snapshot; the formats share their blocks up to the first exemplar. */
export type Segment = { readonly family: Family; readonly samples: Readonly<Record<Format, Block>> };

/** Ends once it is this caller's turn to keep the event loop busy for about a millisecond. */
export type NextTurn = () => Promise<void>;

export type ToBlock = (bytes: Buffer) => Promise<Block>;

type RenderOptions = {
  readonly nextTurn: NextTurn;
  readonly toBlock?: ToBlock | undefined;
  /** The segments that these ones replace: a block that has not changed is taken over instead of deflated again. */
  readonly earlier?: readonly Segment[] | undefined;
};

/**
 * Renders one segment for each family, in order of appearance; in slices, so that thousands of rows never block the event
 * loop.
 */
export async function renderSegments(
  rows: readonly Row[],
  baseLabels: readonly LabelPair[],
  { nextTurn, toBlock = toBlockBesideLoop, earlier = [] }: RenderOptions,
): Promise<Segment[]> {
  const growing = new Map<Family, Growing>();
  await nextTurn();
  let sinceTurn = 0;
  for (const row of rows) {
    const { family } = row;
    let entry = growing.get(family);
    if (entry === undefined) {
      entry = { render: createRowRenderer(family, baseLabels), text: createStream() };
      growing.set(family, entry);
    }
    const { render, text } = entry;
    const line = render(row);
    if (row.exemplar !== undefined) entry.openmetrics ??= fork(text);
    const { openmetrics } = entry;
    text.pending += line;
    if (openmetrics !== undefined) openmetrics.pending += line && row.exemplar ? addExemplar(line, row.exemplar) : line;
    sinceTurn += openmetrics === undefined ? line.length : 2 * line.length;
    if (sinceTurn < sliceLength) continue;
    for (const stream of streamsOf(entry)) {
      encode(stream);
      if (stream.encoded.length >= slicesOfBlock) await deflate(stream, toBlock);
    }
    await nextTurn();
    sinceTurn = 0;
  }
  const segments: Segment[] = [];
  const before = new Map(earlier.map(({ family, samples }) => [family.name, samples]));
  for (const [family, entry] of growing) {
    for (const stream of streamsOf(entry)) {
      encode(stream);
      const same = before.get(family.name)?.[stream === entry.text ? 'text' : 'openmetrics'];
      if (same !== undefined && holds(same, stream)) takeOver(stream, same);
      else await deflate(stream, toBlock);
    }
    if (entry.text.blocks.length === 0) continue;
    const text = joinBlocks(entry.text.blocks);
    const openmetrics = entry.openmetrics === undefined ? text : joinBlocks(entry.openmetrics.blocks);
    segments.push({ family, samples: { text, openmetrics } });
  }
  return segments;
}

/** Groups segments by the name of their family, in the order in which the families appear. */
export function groupByFamily(segments: readonly Segment[]): Group[] {
  const byName = new Map<string, Group>();
  for (const segment of segments) {
    const same = byName.get(segment.family.name);
    if (same === undefined) byName.set(segment.family.name, [segment]);
    else same.push(segment);
  }
  return [...byName.values()];
}

type Group = [Segment, ...Segment[]];

/** Lists the blocks of segments: families sorted by name, each with its header. */
export function listBlocks(
  segments: readonly Segment[],
  format: Format,
  toHeader: (family: Family) => Block,
): readonly Block[] {
  return groupByFamily(segments)
    .sort(([one], [other]) => (one.family.name < other.family.name ? -1 : 1))
    .flatMap((same) => [toHeader(same[0].family), ...same.map(({ samples }) => samples[format])]);
}

type Growing = {
  readonly render: (row: Row) => string;
  readonly text: Stream;
  /** Absent while it is the same as the text. */
  openmetrics?: Stream;
};

type Stream = { pending: string; readonly encoded: Buffer[]; readonly blocks: Block[] };

function createStream(): Stream {
  return { pending: '', encoded: [], blocks: [] };
}

function fork({ pending, encoded, blocks }: Stream): Stream {
  return { pending, encoded: [...encoded], blocks: [...blocks] };
}

function streamsOf({ text, openmetrics }: Growing): readonly Stream[] {
  return openmetrics === undefined ? [text] : [text, openmetrics];
}

/** In characters: about a millisecond's work. */
const sliceLength = 131_072;

/** To hand a block over to another thread takes long as well, so it is done for several slices at once. */
const slicesOfBlock = 4;

function encode(stream: Stream): void {
  if (stream.pending !== '') stream.encoded.push(Buffer.from(stream.pending, 'utf8'));
  stream.pending = '';
}

async function deflate({ encoded, blocks }: Stream, toBlock: ToBlock): Promise<void> {
  const taken = encoded.splice(0);
  if (taken.length > 0) blocks.push(await toBlock(joinBytes(taken)));
}

/** True if a block is all that a stream has, as it mostly is where nothing happens. */
function holds({ text, length }: Block, { encoded, blocks }: Stream): boolean {
  const [bytes] = text;
  if (bytes === undefined || text.length > 1 || blocks.length > 0) return false;
  let start = 0;
  for (const part of encoded) {
    if (start + part.length > length || bytes.compare(part, 0, part.length, start, start + part.length) !== 0)
      return false;
    start += part.length;
  }
  return start === length;
}

function takeOver({ encoded, blocks }: Stream, block: Block): void {
  encoded.splice(0);
  blocks.push(block);
}

/** In memory of its own: what is kept must not keep a piece of Node's pool from being used again. */
function joinBytes(parts: readonly Buffer[]): Buffer {
  const joined = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) end += part.copy(joined, end);
  return joined;
}
