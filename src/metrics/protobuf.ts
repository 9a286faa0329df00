import { type NativePart, zeroThreshold } from '../domain/durations/native-histogram.ts';
import type { Family, MetricType, Row } from './family.ts';
import { createRenderedLine, type RenderedLine } from './rendered-line.ts';
import { createWire, toTime, type Wire } from './wire.ts';

/** Data of a family that its rendered lines do not contain. */
export type BesideText = {
  /** Pairs: the number of a line, and the time in seconds at which the series of this line and of the following lines started. */
  readonly starts: readonly number[];
  readonly natives: readonly (NativePart | undefined)[];
};

/** Collects the data of rows that their rendered lines do not contain. */
export function createBesideText() {
  const starts: number[] = [];
  const natives: (NativePart | undefined)[] = [];
  let lines = 0;
  let last: number | undefined;
  return {
    starts,
    natives,
    note: ({ family, suffix, startSeconds, native }: Row): void => {
      if (family.type === 'histogram' && suffix === '_count') natives.push(native);
      if (startSeconds !== last) starts.push(lines, startSeconds ?? Number.NaN);
      last = startSeconds;
      lines += 1;
    },
  };
}

/** Messages by the suffix of their family. Summaries without a sum need another name, because the format does not permit them. */
type Messages = ReadonlyMap<string, Buffer>;

/** Translates rendered OpenMetrics lines of a family to `Metric` messages. Rows are kept only as text. */
export function createTranslation(family: Family, beside: BesideText) {
  const out = new Map<string, Wire>();
  const write = family.type === 'histogram' ? createHistograms(beside) : createValues(family);
  const line = createRenderedLine();
  let lines = 0;
  let nextStart = 0;
  let startSeconds = Number.NaN;

  function begin(): void {
    while ((beside.starts[nextStart] ?? Number.POSITIVE_INFINITY) <= lines) {
      startSeconds = beside.starts[nextStart + 1] ?? Number.NaN;
      nextStart += 2;
    }
    lines += 1;
  }

  return {
    /** Translates whole lines until about `limit` bytes are read. Returns the position of the next line. */
    read: (text: Buffer, from: number, limit: number): number => {
      let at = from;
      const until = Math.min(text.length, from + limit);
      while (at < until) {
        begin();
        at = line.read(text, at, family.name.length);
        const suffix = family.type === 'summary' ? line.suffix() : '';
        let wire = out.get(suffix);
        if (wire === undefined) {
          wire = createWire();
          out.set(suffix, wire);
        }
        write(line, startSeconds, wire);
      }
      return at;
    },
    end: (): Messages => new Map([...out].map(([suffix, wire]) => [suffix, wire.take()])),
  };
}

/** Writes the beginning of a `MetricFamily` message, for `length` bytes of `Metric` messages. */
export function toFamilyStart({ name, help, type }: Family, suffix: string, length: number): Buffer {
  const head = createWire(256);
  head.text(1, name + suffix);
  head.text(2, help);
  head.integer(3, numberOf(type, suffix));
  const wire = createWire(256);
  wire.varint(head.length() + length);
  head.moveTo(wire.append);
  return wire.take();
}

function numberOf(type: MetricType, suffix: string): number {
  if (type === 'histogram') return 4;
  return type === 'counter' || suffix !== '' ? 0 : 1;
}

type Write = (line: RenderedLine, startSeconds: number, wire: Wire) => void;

/** Writes values. A metric is field 4 of its family; its value is field 3 for counters and field 2 for gauges. */
function createValues({ type }: Family): Write {
  const metric = createWire();
  const value = createWire();
  const writeStart = createStarts();
  return (line, startSeconds, wire) => {
    const isCounter = type === 'counter' || line.suffix() !== '';
    line.labels.moveTo(metric.append);
    value.double(1, line.value());
    if (isCounter) writeStart(value, 3, startSeconds);
    metric.message(isCounter ? 3 : 2, value);
    wire.message(4, metric);
  };
}

/** Writes histograms, whose lines are consecutive: buckets, sum, count. */
function createHistograms({ natives }: BesideText): Write {
  const metric = createWire();
  const histogram = createWire();
  const bucket = createWire();
  const writeStart = createStarts();
  let series = 0;
  let index = 0;
  let below = 0;
  return (line, startSeconds, wire) => {
    const part = natives[series];
    const before = part?.before;
    if (line.suffix() === '_bucket') {
      below += before?.counts[index] ?? 0;
      index += 1;
      bucket.integer(1, Math.max(0, line.value() - below));
      bucket.double(2, line.bound());
      if (line.hasExemplar()) bucket.message(3, line.exemplar());
      histogram.message(3, bucket);
      line.labels.clear();
      return;
    }
    if (line.suffix() === '_sum') {
      histogram.double(2, line.value() - (before?.sum ?? 0));
      line.labels.clear();
      return;
    }
    histogram.integer(1, Math.max(0, line.value() - (before?.count ?? 0)));
    if (part !== undefined) writeNative(histogram, part);
    writeStart(histogram, 15, startSeconds);
    line.labels.moveTo(metric.append);
    metric.message(7, histogram);
    wire.message(4, metric);
    series += 1;
    index = 0;
    below = 0;
  };
}

/** Encodes the starts of series. Neighbours usually have the same start, which is encoded only once. */
function createStarts() {
  let last = Number.NaN;
  let time: Buffer = Buffer.alloc(0);
  return (wire: Wire, field: number, startSeconds: number): void => {
    if (Number.isNaN(startSeconds)) return;
    if (startSeconds !== last) time = toTime(startSeconds).take();
    last = startSeconds;
    wire.bytes(field, time);
  };
}

function writeNative(wire: Wire, { native }: NativePart): void {
  const { schema, zeros, buckets } = native;
  wire.signed(5, schema);
  wire.double(6, zeroThreshold);
  wire.integer(7, zeros);
  // Spans of neighbouring buckets. Each offset counts from the end of the previous span.
  const span = createWire(16);
  let end = 0;
  for (let at = 0; at < buckets.length; ) {
    const first = buckets[at] ?? 0;
    let length = 0;
    while (buckets[at] === first + length) {
      length += 1;
      at += 2;
    }
    span.signed(1, first - end);
    span.integer(2, length);
    wire.message(12, span);
    end = first + length;
  }
  let previous = 0;
  for (let at = 1; at < buckets.length; at += 2) {
    const count = buckets[at] ?? 0;
    wire.signed(13, count - previous);
    previous = count;
  }
}
