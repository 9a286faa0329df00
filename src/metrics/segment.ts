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
      entry = { render: createRowRenderer(family, baseLabels), text: '', blocks: [] };
      growing.set(family, entry);
    }
    const line = entry.render(row);
    entry.text += line;
    sinceTurn += line.length;
    if (sinceTurn < sliceLength) continue;
    await flush(entry);
    await nextTurn();
    sinceTurn = 0;
  }
  const segments: Segment[] = [];
  for (const [family, entry] of growing) {
    await flush(entry);
    if (entry.blocks.length > 0) segments.push({ family, samples: joinBlocks(entry.blocks) });
  }
  return segments;
}

type Growing = { readonly render: (row: Row) => string; text: string; readonly blocks: Block[] };

/** In characters: about a millisecond's work. */
const sliceLength = 131_072;

async function flush(entry: Growing): Promise<void> {
  if (entry.text === '') return;
  const { text } = entry;
  entry.text = '';
  entry.blocks.push(await toBlock(text));
}
