import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { Span, Trace } from '../domain/span.ts';

/** One OTLP request with one resource, as OpenTelemetry's own serializer writes it. */
export function encodeTrace(trace: Trace, format: 'protobuf' | 'json'): Uint8Array {
  const serializer = format === 'json' ? JsonTraceSerializer : ProtobufTraceSerializer;
  const bytes = serializer.serializeRequest(toReadable(trace));
  if (bytes === undefined) throw new Error('OpenTelemetry serialized a trace to nothing.');
  return bytes;
}

type ReadableSpans = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0];
type ReadableSpan = ReadableSpans[number];

/** The serializer takes spans by their shape; those that share a resource by identity go together. */
function toReadable({ traceId, spans, resource, scope }: Trace): ReadableSpans {
  const shared = { attributes: resource, getRawAttributes: () => Object.entries(resource), merge: () => ofAll };
  const ofAll: ReadableSpan['resource'] = shared;
  return spans.map((span) => ({
    name: span.name,
    kind: span.kind === 'server' ? serverKind : internalKind,
    spanContext: () => ({ traceId, spanId: span.id, traceFlags: sampled }),
    ...toParent(span, traceId),
    startTime: toHighResolution(span.startMs),
    endTime: toHighResolution(span.endMs),
    duration: toHighResolution(span.endMs - span.startMs),
    ended: true,
    status: { code: span.isError ? errorStatus : unsetStatus },
    attributes: span.attributes,
    links: span.links.map((link) => ({
      context: { traceId: link.traceId, spanId: link.spanId, traceFlags: sampled, isRemote: true },
      attributes: link.attributes,
    })),
    events: [],
    resource: ofAll,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }));
}

// The numbers of OpenTelemetry's enumerations.
const internalKind = 0;
const serverKind = 1;
const unsetStatus = 0;
const errorStatus = 2;
const sampled = 1;

/** Only a root has a parent from elsewhere. */
function toParent({ parentId, kind }: Span, traceId: string): Pick<ReadableSpan, 'parentSpanContext'> {
  if (parentId === undefined) return {};
  return { parentSpanContext: { traceId, spanId: parentId, traceFlags: sampled, isRemote: kind === 'server' } };
}

function toHighResolution(ms: number): [number, number] {
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
}
