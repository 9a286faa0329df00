import { type Field, messages, readAttributes, readFields, readNumber, toBytes, toMs } from './read-request.ts';

/** A point of a metric, with the fields of its kind. */
export type SunkPoint = {
  readonly name: string;
  readonly unit: string;
  readonly kind: 'gauge' | 'sum' | 'histogram' | 'exponential';
  readonly temporality: 'delta' | 'cumulative' | undefined;
  readonly isMonotonic: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly startMs: number;
  readonly atMs: number;
  readonly value?: number;
  readonly count?: number;
  readonly sum?: number;
  readonly bounds?: readonly number[];
  readonly counts?: readonly number[];
  readonly scale?: number;
  readonly zeros?: number;
  readonly offset?: number;
};

/** Returns the points of an `ExportMetricsServiceRequest` in protobuf. Throws for bytes of another form. */
export function readMetricsRequest(bytes: Buffer): readonly SunkPoint[] {
  return messages(bytes, 1).flatMap((resourceMetrics) => {
    const [resourceBytes = none] = messages(resourceMetrics, 1);
    const resource = Object.fromEntries(readAttributes(resourceBytes, 1));
    const metrics = messages(resourceMetrics, 2).flatMap((scopeMetrics) => messages(scopeMetrics, 2));
    return metrics.flatMap((metric) => readMetric(metric, resource));
  });
}

const none = Buffer.alloc(0);
const kinds = { 5: 'gauge', 7: 'sum', 9: 'histogram', 10: 'exponential' } as const;

function readMetric(bytes: Buffer, resource: SunkPoint['resource']): SunkPoint[] {
  const [name = none] = messages(bytes, 1);
  const [unit = none] = messages(bytes, 3);
  return ([5, 7, 9, 10] as const).flatMap((number) =>
    messages(bytes, number).flatMap((data) => {
      const fields = toFields(data);
      const temporality = ([undefined, 'delta', 'cumulative'] as const)[Number(fields.get(2) ?? 0n)];
      const isMonotonic = fields.get(3) === 1n;
      const about = { name: name.toString('utf8'), unit: unit.toString('utf8'), kind: kinds[number] };
      return messages(data, 1).map((point) => ({
        ...about,
        temporality,
        isMonotonic,
        resource,
        ...readPoint(point, kinds[number]),
      }));
    }),
  );
}

function readPoint(bytes: Buffer, kind: SunkPoint['kind']) {
  const fields = toFields(bytes);
  const labelsAt = { gauge: 7, sum: 7, histogram: 9, exponential: 1 }[kind];
  const times = { startMs: toMs(fields.get(2)), atMs: toMs(fields.get(3)) };
  const base = { labels: Object.fromEntries(readAttributes(bytes, labelsAt)), ...times };
  if (kind === 'gauge' || kind === 'sum') return { ...base, value: toBytes(fields.get(4)).readDoubleLE() };
  const counted = { ...base, count: toCount(fields.get(4)), sum: toBytes(fields.get(5)).readDoubleLE() };
  if (kind === 'histogram') {
    const counts = split(toBytes(fields.get(6)), (part) => Number(part.readBigUInt64LE()));
    return { ...counted, counts, bounds: split(toBytes(fields.get(7)), (part) => part.readDoubleLE()) };
  }
  const positive = toFields(toBytes(fields.get(8)));
  const packed = toBytes(positive.get(2));
  const counts: number[] = [];
  for (let at = 0; at < packed.length; ) {
    const { value, end } = readNumber(packed, at);
    counts.push(Number(value));
    at = end;
  }
  const scale = toSigned(fields.get(6));
  return { ...counted, scale, zeros: toCount(fields.get(7)), offset: toSigned(positive.get(1)), counts };
}

function toFields(bytes: Buffer): ReadonlyMap<number, Field['value']> {
  return new Map([...readFields(bytes)].map(({ number, value }) => [number, value]));
}

function toCount(value: Field['value'] | undefined): number {
  return Number(toBytes(value).readBigUInt64LE());
}

function toSigned(value: Field['value'] | undefined): number {
  const zigzag = typeof value === 'bigint' ? value : 0n;
  return Number((zigzag >> 1n) ^ -(zigzag & 1n));
}

function split(bytes: Buffer, read: (part: Buffer) => number): number[] {
  return Array.from({ length: bytes.length / 8 }, (_, at) => read(bytes.subarray(8 * at, 8 * at + 8)));
}
