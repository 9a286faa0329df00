import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { type Block, joinBlocks, toBlock, toBlockNow } from './block.ts';
import { type MetricType, metricTypes } from './family.ts';
import type { Format } from './format.ts';
import { renderEnd, renderHeader } from './render.ts';
import { listBlocks, type Segment } from './segment.ts';

/** The form in which replicas hand segments over. */
export type SegmentCodec = {
  /** Writes a segment as bytes that another process can show. */
  readonly toBytes: (segment: Segment) => Promise<Uint8Array>;
  /** Reads a segment of another process. */
  readonly readBytes: (bytes: Uint8Array) => Promise<Segment>;
};

export const deflatedSegments: SegmentCodec = { toBytes: toSegmentBytes, readBytes: readSegmentBytes };

export async function toSegmentBytes({ family: { name, help, type }, samples }: Segment): Promise<Uint8Array> {
  const { text, openmetrics } = samples;
  const head = JSON.stringify({ name, help, type, text: text.length });
  const others = openmetrics === text ? [] : openmetrics.text;
  return deflate(Buffer.concat([Buffer.from(`${head}\n`), ...text.text, ...others]));
}

export async function readSegmentBytes(bytes: Uint8Array): Promise<Segment> {
  const whole = await inflate(bytes, { maxOutputLength: mostBytes });
  const end = whole.indexOf('\n');
  // The cast is true: only `toSegmentBytes` writes this line.
  const head = JSON.parse(whole.toString('utf8', 0, end)) as Head;
  const { name, help, type, text: length } = head;
  const split = end + 1 + length;
  const text = await toBlock(Buffer.from(whole.subarray(end + 1, split)));
  const openmetrics = split === whole.length ? text : await toBlock(Buffer.from(whole.subarray(split)));
  const known = metricTypes.find((each) => each === type) ?? 'gauge';
  return { family: { name, help, type: known, labels: [], merge: 'sum' }, samples: { text, openmetrics } };
}

type Head = { readonly name: string; readonly help: string; readonly type: MetricType; readonly text: number };

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);
/** More than the limits of series let one family be. */
const mostBytes = 2 ** 28;

/** Creates a function that joins the segments of several servers to one scrape; what it adds to them is deflated once. */
export function createSegmentJoin(): (segments: readonly Segment[], format: Format) => Block {
  const known = new Map<string, Block>();
  const toOwn = (text: string): Block => {
    const block = known.get(text) ?? toBlockNow(text);
    // Help texts of earlier releases, and of families that are gone, are not kept for ever.
    if (known.size >= mostKnown) known.clear();
    known.set(text, block);
    return block;
  };
  return (segments, format) => {
    const blocks = listBlocks(segments, format, (family) => toOwn(renderHeader(family, format)));
    return joinBlocks([...blocks, toOwn(renderEnd(format))]);
  };
}

/** Several times as many as there are families. */
const mostKnown = 2000;
