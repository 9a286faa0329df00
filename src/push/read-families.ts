/** A family of a scrape in protocol buffers, and its points. */
export type ScrapedFamily = {
  readonly name: string;
  readonly help: string;
  readonly isCounter: boolean;
  readonly points: Generator<Point>;
};

export type Point = {
  /** The encoded labels without configured labels. These labels identify the series of a family, even after a reload. */
  readonly key: Buffer;
  /** All labels. States of earlier releases have all labels as the key. */
  readonly fullKey: Buffer;
  readonly labels: Readonly<Record<string, string>>;
  /** The start of the series, if it is a counter and the start is known. */
  readonly startSeconds: number | undefined;
  /** The value of a counter or gauge. */
  readonly value: number;
  readonly histogram?: PointHistogram | undefined;
  /** The time from which the increase counts, for delta. */
  readonly sinceMs?: number;
};

export type PointHistogram = {
  readonly count: number;
  readonly sum: number;
  readonly bounds: readonly number[];
  /** The count of each bucket (not cumulative); the last bucket has no bound. */
  readonly counts: readonly number[];
  readonly native?: PointNative | undefined;
};

export type PointNative = {
  readonly schema: number;
  readonly zeros: number;
  /** Pairs of index and count in one list, in ascending order. */
  readonly buckets: readonly number[];
};

/** Reads the `MetricFamily` messages of `metrics/protobuf.ts`. `configured` are the names of configured labels. */
export function* readFamilies(bytes: Buffer, configured: ReadonlySet<string>): Generator<ScrapedFamily> {
  for (let at = 0; at < bytes.length; ) {
    const { value: length, end } = readVarint(bytes, at);
    at = end + length;
    yield readFamily(bytes.subarray(end, at), configured);
  }
}

function readFamily(bytes: Buffer, configured: ReadonlySet<string>): ScrapedFamily {
  let [name, help] = ['', ''];
  for (const { field, content } of readFields(bytes)) {
    if (field === 1) name = content.toString('utf8');
    else if (field === 2) help = content.toString('utf8');
    else if (field === 4) break;
  }
  // Parts of summaries are not sent as counters, because a translation would add the suffix `_total` to their names.
  return { name, help, isCounter: name.endsWith('_total'), points: readPoints(bytes, configured) };
}

function* readPoints(bytes: Buffer, configured: ReadonlySet<string>): Generator<Point> {
  for (const { field, content } of readFields(bytes)) if (field === 4) yield readPoint(content, configured);
}

function readPoint(bytes: Buffer, configured: ReadonlySet<string>): Point {
  const labels: Record<string, string> = {};
  const kept: Buffer[] = [];
  let keyEnd = 0;
  let value = Number.NaN;
  let startSeconds: number | undefined;
  let histogram: PointHistogram | undefined;
  for (const { field, content, end } of readFields(bytes)) {
    if (field === 1) {
      const [name, text] = [...readFields(content)];
      const label = name?.content.toString('utf8') ?? '';
      labels[label] = text?.content.toString('utf8') ?? '';
      if (configured.size > 0 && !configured.has(label)) kept.push(bytes.subarray(keyEnd, end));
      keyEnd = end;
    } else if (field === 7) {
      const read = readHistogram(content);
      ({ histogram, startSeconds } = read);
    } else {
      for (const part of readFields(content)) {
        if (part.field === 1) value = part.content.readDoubleLE();
        else if (part.field === 3) startSeconds = readSeconds(part.content);
      }
    }
  }
  const fullKey = bytes.subarray(0, keyEnd);
  const key = configured.size > 0 ? Buffer.concat(kept) : fullKey;
  return { key, fullKey, labels, value, startSeconds, histogram };
}

function readHistogram(bytes: Buffer) {
  let [count, sum, zeros, schema] = [0, 0, 0, undefined as number | undefined];
  let startSeconds: number | undefined;
  const bounds: number[] = [];
  const counts: number[] = [];
  const indexes: number[] = [];
  const buckets: number[] = [];
  let [below, index, native] = [0, 0, 0];
  for (const { field, number, content } of readFields(bytes)) {
    if (field === 1) count = number;
    else if (field === 2) sum = content.readDoubleLE();
    else if (field === 3) {
      const [upTo = 0, bound = 0] = [...readFields(content)].map((part) =>
        part.field === 2 ? part.content.readDoubleLE() : part.number,
      );
      if (Number.isFinite(bound)) bounds.push(bound);
      counts.push(upTo - below);
      below = upTo;
    } else if (field === 5) schema = toSigned(number);
    else if (field === 7) zeros = number;
    else if (field === 12) {
      const [offset = 0, length = 0] = [...readFields(content)].map((part) => part.number);
      index += toSigned(offset);
      for (let more = 0; more < length; more += 1) indexes.push(index++);
    } else if (field === 13) {
      native += toSigned(number);
      buckets.push(indexes[buckets.length / 2] ?? 0, native);
    } else if (field === 15) startSeconds = readSeconds(content);
  }
  const histogram: PointHistogram = {
    count,
    sum,
    bounds,
    counts,
    native: schema === undefined ? undefined : { schema, zeros, buckets },
  };
  return { histogram, startSeconds };
}

function readSeconds(bytes: Buffer): number {
  const [seconds = 0, nanos = 0] = [...readFields(bytes)].map(({ number }) => number);
  return seconds + nanos / 1e9;
}

function toSigned(zigzag: number): number {
  return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
}

type Field = { readonly field: number; readonly number: number; readonly content: Buffer; readonly end: number };

function* readFields(bytes: Buffer): Generator<Field> {
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at);
    const field = Math.floor(tag.value / 8);
    const wireType = tag.value % 8;
    if (wireType === 0) {
      const { value, end } = readVarint(bytes, tag.end);
      at = end;
      yield { field, number: value, content: none, end };
      continue;
    }
    const { value: length, end: start } = wireType === 1 ? { value: 8, end: tag.end } : readVarint(bytes, tag.end);
    at = start + length;
    yield { field, number: 0, content: bytes.subarray(start, at), end: at };
  }
}

const none = Buffer.alloc(0);

function readVarint(bytes: Buffer, from: number): { value: number; end: number } {
  let value = 0;
  let at = from;
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes[at++] ?? 0;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return { value, end: at };
  }
}
