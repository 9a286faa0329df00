import { JsonMetricsSerializer, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import { toHighResolution, toOtlpResource } from '../tracing/deliver/encode.ts';
import type { PushSettings } from '../tracing/deliver/push-settings.ts';
import type { Point, PointHistogram, PointNative, ScrapedFamily } from './read-families.ts';

type Request = Parameters<typeof ProtobufMetricsSerializer.serializeRequest>[0];
type Scope = Request['scopeMetrics'][number];
type Metric = Scope['metrics'][number];

export type Pushed = {
  readonly family: Pick<ScrapedFamily, 'name' | 'help' | 'isCounter'>;
  readonly points: readonly Point[];
};

type Encoding = Pick<PushSettings, 'protocol' | 'resource' | 'isExponential' | 'isDelta'> & {
  readonly version: string;
};

/** Encodes one request with OpenTelemetry's serializer. The field for the unit is empty, because names contain units. */
export function encodeMetrics(families: readonly Pushed[], nowMs: number, encoding: Encoding): Uint8Array {
  const { protocol, resource, version } = encoding;
  const metrics = families.flatMap(({ family, points }) => toMetrics(family, points, nowMs, encoding));
  const scope = { name: 'automation-exporter', version };
  const request = { resource: toOtlpResource(resource), scopeMetrics: [{ scope, metrics }] };
  const serializer = protocol === 'http/json' ? JsonMetricsSerializer : ProtobufMetricsSerializer;
  const bytes = serializer.serializeRequest(request);
  if (bytes === undefined) throw new Error('OpenTelemetry returned no bytes for metrics.');
  return bytes;
}

function toMetrics(
  { name, help, isCounter }: Pushed['family'],
  points: readonly Point[],
  nowMs: number,
  { isExponential, isDelta }: Encoding,
) {
  const descriptor = { name, description: help, unit: '', valueType: double };
  const aggregationTemporality = isDelta ? delta : cumulative;
  const metrics: unknown[] = [];
  function add(about: { readonly dataPointType: number; readonly isMonotonic?: true }, dataPoints: readonly unknown[]) {
    if (dataPoints.length > 0) metrics.push({ descriptor, aggregationTemporality, ...about, dataPoints });
  }
  const numbers = points.filter(({ histogram }) => histogram === undefined);
  const [natives, classics] = [new Array<unknown>(), new Array<unknown>()];
  for (const point of points) {
    const { histogram } = point;
    if (histogram === undefined) continue;
    const { native } = histogram;
    if (isExponential && native !== undefined)
      natives.push(toDataPoint(point, toExponential(histogram, native), nowMs));
    else classics.push(toDataPoint(point, toClassic(histogram), nowMs));
  }
  add(
    isCounter ? { dataPointType: sumType, isMonotonic: true } : { dataPointType: gaugeType },
    numbers.map((point) => toDataPoint(point, point.value, nowMs)),
  );
  add({ dataPointType: exponentialType }, natives);
  add({ dataPointType: histogramType }, classics);
  // This cast is safe: each type has its kind of points. The package does not export its enumerations.
  return metrics as Metric[];
}

function toDataPoint<Value>({ startSeconds = 0, sinceMs = 0, labels }: Point, value: Value, nowMs: number) {
  // The start must not be after the end, although clocks differ and may be set back.
  const startTime = toHighResolution(Math.min(nowMs, Math.max(startSeconds * 1000, sinceMs)));
  return { startTime, endTime: toHighResolution(nowMs), attributes: labels, value };
}

function toClassic({ count, sum, bounds, counts }: PointHistogram) {
  return { count, sum, buckets: { boundaries: bounds, counts } };
}

/** Converts native buckets. In the exporter, a bucket ends at the power of its index; in OTLP, a bucket begins at the power. */
function toExponential({ count, sum }: PointHistogram, { schema, zeros, buckets }: PointNative) {
  const first = buckets[0] ?? 1;
  const bucketCounts: number[] = [];
  for (let at = 0; at < buckets.length; at += 2) bucketCounts[(buckets[at] ?? 0) - first] = buckets[at + 1] ?? 0;
  const positive = { offset: first - 1, bucketCounts: Array.from(bucketCounts, (one) => one ?? 0) };
  return { count, sum, scale: schema, zeroCount: zeros, positive, negative: { offset: 0, bucketCounts: [] } };
}

// The numbers of OpenTelemetry's enumerations.
const [histogramType, exponentialType, gaugeType, sumType] = [0, 1, 2, 3] as const;
const [delta, cumulative] = [0, 1];
const double = 1;
