import { type Block, joinBlocks, toBlock } from './block.ts';
import type { Family, LabelPair, Row } from './family.ts';
import { createRowRenderer } from './render.ts';

/** The samples of one family in one snapshot. */
export type Segment = { readonly family: Family; readonly samples: Block };

/** Ends once it is this caller's turn to keep the event loop busy for about a millisecond. */
export type NextTurn = () => Promise<void>;

/** One segment a family, in order of appearance; rendered in slices, so that thousands of rows hold up nobody. */
export async function renderSegments(
  rows: readonly Row[],
  baseLabels: readonly LabelPair[],
  nextTurn: NextTurn,
): Promise<Segment[]> {
  const growing = new Map<Family, Growing>();
  await nextTurn();
  let sinceTurn = 0;
  for (const row of rows) {
    const { family } = row;
    let entry = growing.get(family);
    if (entry === undefined) {
      entry = { render: createRowRenderer(family, baseLabels), text: '', encoded: [], blocks: [] };
      growing.set(family, entry);
    }
    const line = entry.render(row);
    entry.text += line;
    sinceTurn += line.length;
    if (sinceTurn < sliceLength) continue;
    encode(entry);
    if (entry.encoded.length === slicesOfBlock) await deflate(entry);
    await nextTurn();
    sinceTurn = 0;
  }
  const segments: Segment[] = [];
  for (const [family, entry] of growing) {
    encode(entry);
    await deflate(entry);
    if (entry.blocks.length > 0) segments.push({ family, samples: joinBlocks(entry.blocks) });
  }
  return segments;
}

type Growing = {
  readonly render: (row: Row) => string;
  text: string;
  readonly encoded: Buffer[];
  readonly blocks: Block[];
};

/** In characters: about a millisecond's work. */
const sliceLength = 131_072;

/** To hand a block over to another thread takes long as well, so it is done for several slices at once. */
const slicesOfBlock = 4;

function encode(entry: Growing): void {
  if (entry.text !== '') entry.encoded.push(Buffer.from(entry.text, 'utf8'));
  entry.text = '';
}

async function deflate(entry: Growing): Promise<void> {
  const encoded = entry.encoded.splice(0);
  if (encoded.length > 0) entry.blocks.push(await toBlock(joinBytes(encoded)));
}

/** In memory of its own: what is kept must not keep a piece of Node's pool from being used again. */
function joinBytes(parts: readonly Buffer[]): Buffer {
  const joined = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) end += part.copy(joined, end);
  return joined;
}
