/** A decoded `MetricFamily`; its samples are written in the text format. */
type DecodedFamily = {
  readonly name: string;
  readonly help: string;
  readonly type: number;
  readonly samples: readonly string[];
  readonly series: readonly DecodedSeries[];
};

type DecodedSeries = {
  readonly labels: string;
  readonly startSeconds: number | undefined;
  readonly native?: { readonly schema: number; readonly zeros: number; readonly buckets: readonly number[] };
  readonly exemplars: readonly string[];
  readonly count: number;
};

/** Decodes messages by the specification; the exporter's decoder could share faults with its encoder. */
export function decodeFamilies(bytes: Buffer): readonly DecodedFamily[] {
  const families: DecodedFamily[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { value: length, next } = readVarint(bytes, at);
    families.push(decodeFamily(bytes.subarray(next, next + length)));
    at = next + length;
  }
  return families;
}

function decodeFamily(bytes: Buffer): DecodedFamily {
  const fields = readFields(bytes);
  const name = textOf(fields, 1) ?? '';
  const metrics = fields.filter(({ field }) => field === 4).map(({ bytes: metric }) => decodeMetric(name, metric));
  return {
    name,
    help: textOf(fields, 2) ?? '',
    type: numberOf(fields, 3) ?? -1,
    samples: metrics.flatMap(({ samples }) => samples),
    series: metrics.map(({ series }) => series),
  };
}

function decodeMetric(name: string, bytes: Buffer) {
  const fields = readFields(bytes);
  const pairs = fields.filter(({ field }) => field === 1).map(({ bytes: pair }) => toPair(pair));
  const at = (suffix: string, value: number, ...more: readonly string[]): string => {
    const all = [...pairs, ...more];
    return `${name}${suffix}${all.length === 0 ? '' : `{${all.join(',')}}`} ${toText(value)}`;
  };
  const simple = fields.find(({ field }) => field === 2 || field === 3);
  const parts = readFields((simple ?? fields.find(({ field }) => field === 7))?.bytes ?? Buffer.alloc(0));
  const time = parts.find(({ field }) => field === (simple === undefined ? 15 : 3))?.bytes;
  const startSeconds = time && numberOf(readFields(time), 1);
  const labels = pairs.join(',');
  if (simple !== undefined) {
    const samples = [at('', numberOf(parts, 1) ?? Number.NaN)];
    return { samples, series: { labels, startSeconds, exemplars: [], count: 0 } satisfies DecodedSeries };
  }
  const buckets = parts.filter(({ field }) => field === 3).map(({ bytes: bucket }) => readFields(bucket));
  const exemplars = buckets.flatMap((bucket) =>
    bucket.flatMap(({ field, bytes: exemplar }) => (field === 3 ? [toExemplar(exemplar)] : [])),
  );
  const count = numberOf(parts, 1) ?? 0;
  const native = toNative(parts);
  return {
    samples: [
      ...buckets.map((bucket) => {
        const bound = numberOf(bucket, 2) ?? Number.NaN;
        return at(
          '_bucket',
          numberOf(bucket, 1) ?? 0,
          `le="${Number.isInteger(bound) ? `${bound}.0` : toText(bound)}"`,
        );
      }),
      at('_sum', numberOf(parts, 2) ?? Number.NaN),
      at('_count', count),
    ],
    series: { labels, startSeconds, exemplars, count, ...(native === undefined ? {} : { native }) },
  };
}

/** Returns pairs of index and count, as in the exporter. */
function toNative(parts: readonly Field[]): DecodedSeries['native'] {
  const schema = numberOf(parts, 5);
  if (schema === undefined) return undefined;
  const deltas = parts.filter(({ field }) => field === 13).map(({ value }) => toSigned(value));
  const buckets: number[] = [];
  let index = 0;
  let count = 0;
  for (const { field, bytes } of parts) {
    if (field !== 12) continue;
    const span = readFields(bytes);
    index += toSigned(numberOf(span, 1) ?? 0);
    for (let left = numberOf(span, 2) ?? 0; left > 0; left--) {
      count += deltas.shift() ?? Number.NaN;
      buckets.push(index, count);
      index += 1;
    }
  }
  return { schema: toSigned(schema), zeros: numberOf(parts, 7) ?? Number.NaN, buckets };
}

function toExemplar(bytes: Buffer): string {
  const fields = readFields(bytes);
  const labels = fields.filter(({ field }) => field === 1).map(({ bytes: pair }) => toPair(pair));
  const time = readFields(fields.find(({ field }) => field === 3)?.bytes ?? Buffer.alloc(0));
  const seconds = (numberOf(time, 1) ?? 0) + (numberOf(time, 2) ?? 0) / 1e9;
  return `{${labels.join(',')}} ${numberOf(fields, 2)} ${seconds}`;
}

function toPair(bytes: Buffer): string {
  const pair = readFields(bytes);
  const value = (textOf(pair, 2) ?? '').replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
  return `${textOf(pair, 1)}="${value}"`;
}

function toText(value: number): string {
  return String(value).replace('Infinity', 'Inf').replace(/^Inf/, '+Inf');
}

type Field = { readonly field: number; readonly value: number; readonly bytes: Buffer };

function readFields(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at);
    const field = Math.floor(tag.value / 8);
    at = tag.next;
    if (tag.value % 8 === 1) {
      fields.push({ field, value: bytes.readDoubleLE(at), bytes });
      at += 8;
      continue;
    }
    const { value, next } = readVarint(bytes, at);
    const end = tag.value % 8 === 2 ? next + value : next;
    fields.push({ field, value, bytes: bytes.subarray(next, end) });
    at = end;
  }
  return fields;
}

function readVarint(bytes: Buffer, from: number) {
  let value = 0;
  let factor = 1;
  for (let at = from; ; at++) {
    const byte = bytes[at];
    if (byte === undefined) throw new Error(`a number at ${from} has no end`);
    value += (byte % 128) * factor;
    if (byte < 128) return { value, next: at + 1 };
    factor *= 128;
  }
}

function toSigned(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function numberOf(fields: readonly Field[], wanted: number): number | undefined {
  return fields.find(({ field }) => field === wanted)?.value;
}

function textOf(fields: readonly Field[], wanted: number): string | undefined {
  return fields.find(({ field }) => field === wanted)?.bytes.toString('utf8');
}
