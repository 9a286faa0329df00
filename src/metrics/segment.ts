import { type Block, joinBlocks, toBlock as toBlockBesideLoop, toStoredBlock } from './block.ts';
import type { Family, LabelPair, Row } from './family.ts';
import type { TextFormat } from './format.ts';
import { type BesideText, createBesideText, createTranslation, toFamilyStart } from './protobuf.ts';
import { addExemplar, createRowRenderer } from './render.ts';

/** The samples of one family in one snapshot. The two text formats share their blocks up to the first exemplar. */
export type Segment = {
  readonly family: Family;
  readonly samples: Readonly<Record<TextFormat, Block>>;
  readonly beside: BesideText;
  /** The samples as protocol buffers, by suffix; absent until requested. */
  messages?: ReadonlyMap<string, Block>;
  /** Concurrent scrapes wait for the same translation. */
  translating?: Promise<void>;
};

/** Resolves when the caller may block the event loop for about a millisecond. */
type NextTurn = () => Promise<void>;

/** Returns a function that gives each caller its own turn of the event loop. */
export function createTurns(nextTurn: NextTurn): NextTurn {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(nextTurn);
    return last;
  };
}

export type ToBlock = (bytes: Buffer) => Promise<Block>;

type RenderOptions = {
  nextTurn: NextTurn;
  toBlock?: ToBlock | undefined;
  /** The previous segments, whose unchanged blocks are reused. */
  earlier?: readonly Segment[] | undefined;
};

/** Renders one segment for each family, in order of appearance, in slices, so that rows never block the event loop. */
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
      entry = { render: createRowRenderer(family, baseLabels), text: createStream(), beside: createBesideText() };
      growing.set(family, entry);
    }
    const { render, text } = entry;
    const line = render(row);
    if (row.exemplar !== undefined) entry.openmetrics ??= fork(text);
    const { openmetrics } = entry;
    text.pending += line;
    if (line !== '') entry.beside.note(row);
    if (openmetrics !== undefined) openmetrics.pending += line && row.exemplar ? addExemplar(line, row.exemplar) : line;
    sinceTurn += openmetrics === undefined ? line.length : 2 * line.length;
    if (text.pending.length >= pieceLength) for (const stream of streamsOf(entry)) encode(stream);
    if (sinceTurn < sliceLength) continue;
    for (const stream of streamsOf(entry)) {
      encode(stream);
      if (stream.length >= blockLength) await deflate(stream, toBlock);
    }
    await nextTurn();
    sinceTurn = 0;
  }
  const segments: Segment[] = [];
  const before = new Map(earlier.map((segment) => [segment.family.name, segment]));
  for (const [family, entry] of growing) {
    const earlierOne = before.get(family.name);
    let isSame = earlierOne !== undefined;
    for (const stream of streamsOf(entry)) {
      encode(stream);
      const same = earlierOne?.samples[stream === entry.text ? 'text' : 'openmetrics'];
      if (same !== undefined && holds(same, stream)) takeOver(stream, same);
      else {
        isSame = false;
        await deflate(stream, toBlock);
      }
    }
    if (entry.text.blocks.length === 0) continue;
    const text = joinBlocks(entry.text.blocks);
    const openmetrics = entry.openmetrics === undefined ? text : joinBlocks(entry.openmetrics.blocks);
    const { starts, natives } = entry.beside;
    const segment: Segment = { family, samples: { text, openmetrics }, beside: { starts, natives } };
    // Messages are kept while the text is the same, because native parts change only together with the text.
    if (isSame && earlierOne?.messages !== undefined && starts.join() === earlierOne.beside.starts.join())
      segment.messages = earlierOne.messages;
    segments.push(segment);
  }
  return segments;
}

type TranslateOptions = Pick<RenderOptions, 'nextTurn' | 'toBlock'>;

/** Translates segments to protocol buffers, in slices. */
export async function translateSegments(segments: readonly Segment[], options: TranslateOptions): Promise<void> {
  for (const segment of segments) {
    if (segment.messages !== undefined) continue;
    segment.translating ??= translate(segment, options);
    await segment.translating;
  }
}

async function translate(segment: Segment, { nextTurn, toBlock = toBlockBesideLoop }: TranslateOptions): Promise<void> {
  const translation = createTranslation(segment.family, segment.beside);
  for (const text of segment.samples.openmetrics.text) {
    for (let at = 0; at < text.length; ) {
      await nextTurn();
      // The slices are smaller than for rendering, because translating takes several times as long.
      at = translation.read(text, at, sliceLength / 4);
    }
  }
  const blocks = new Map<string, Block>();
  for (const [suffix, bytes] of translation.end()) blocks.set(suffix, await toBlock(bytes));
  segment.messages = blocks;
}

/** Lists blocks: families sorted by name, each with its header. */
export function listBlocks(
  segments: readonly Segment[],
  format: TextFormat,
  toHeader: (family: Family) => Block,
): readonly Block[] {
  return [...Map.groupBy(segments, ({ family }) => family.name)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, same]) => [
      ...same.slice(0, 1).map(({ family }) => toHeader(family)),
      ...same.map(({ samples }) => samples[format]),
    ]);
}

/** Joins translated segments. Each family becomes one message with all its segments. */
export function joinMessages(segments: readonly Segment[]): Block {
  const families = new Map<string, { family: Family; suffix: string; blocks: Block[] }>();
  for (const { family, messages } of segments) {
    for (const [suffix, block] of messages ?? []) {
      const same = families.get(family.name + suffix);
      if (same === undefined) families.set(family.name + suffix, { family, suffix, blocks: [block] });
      else same.blocks.push(block);
    }
  }
  return joinBlocks(
    [...families.values()].flatMap(({ family, suffix, blocks }) => {
      const length = blocks.reduce((sum, block) => sum + block.length, 0);
      return [toStoredBlock(toFamilyStart(family, suffix, length)), ...blocks];
    }),
  );
}

type Growing = {
  render: (row: Row) => string;
  text: Stream;
  beside: ReturnType<typeof createBesideText>;
  /** The lines of OpenMetrics; absent while they are equal to the lines of the other text format. */
  openmetrics?: Stream;
};

/** Rendered lines: blocks, then the first `length` bytes, then pending text. */
type Stream = { pending: string; bytes: Buffer; length: number; blocks: Block[] };

function createStream(): Stream {
  return { pending: '', bytes: Buffer.alloc(0), length: 0, blocks: [] };
}

function fork({ pending, bytes, length, blocks }: Stream): Stream {
  return { pending, bytes: Buffer.from(bytes), length, blocks: [...blocks] };
}

function streamsOf({ text, openmetrics }: Growing): readonly Stream[] {
  return openmetrics === undefined ? [text] : [text, openmetrics];
}

/** The number of characters at which pending text is encoded. Longer concatenated texts are slower to encode. */
const pieceLength = 4096;

/** The number of characters in a slice. Rendering a slice takes about a millisecond. */
const sliceLength = 131_072;

/** The number of bytes in a block. Several slices form one block, because passing a block to another thread takes 0.2 ms. */
const blockLength = 8 * sliceLength;

function encode(stream: Stream): void {
  const { pending, bytes, length } = stream;
  // A character takes at most three bytes.
  const needed = length + 3 * pending.length;
  if (needed > bytes.length) {
    stream.bytes = Buffer.allocUnsafeSlow(Math.max(needed, 2 * bytes.length));
    bytes.copy(stream.bytes, 0, 0, length);
  }
  stream.length += stream.bytes.write(pending, length, 'utf8');
  stream.pending = '';
}

async function deflate(stream: Stream, toBlock: ToBlock): Promise<void> {
  const { bytes, length, blocks } = stream;
  if (length === 0) return;
  // The block is a copy, because the bytes are overwritten later.
  const taken = Buffer.allocUnsafeSlow(length);
  bytes.copy(taken, 0, 0, length);
  stream.length = 0;
  blocks.push(await toBlock(taken));
}

/** Reports whether a stream contains nothing but one given block, as for most unchanged families. */
function holds({ text, length }: Block, stream: Stream): boolean {
  const [bytes] = text;
  if (bytes === undefined || text.length > 1 || stream.blocks.length > 0 || stream.length !== length) return false;
  return bytes.compare(stream.bytes, 0, length) === 0;
}

function takeOver(stream: Stream, block: Block): void {
  stream.length = 0;
  stream.blocks.push(block);
}
