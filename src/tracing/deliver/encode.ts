import {
  JsonLogsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer';
import { schemaUrl } from '../plan/attribute-names.ts';
import type { TraceFormat } from '../plan/estimate.ts';
import type { LogRecord, LogRecords } from '../plan/log-records.ts';
import type { Attributes, Span, SpanLink, Trace } from '../plan/span.ts';

/** Encodes an OTLP request with OpenTelemetry's serializer. */
export function encodeTrace(trace: Trace, format: TraceFormat): Uint8Array {
  const serializer = format === 'json' ? JsonTraceSerializer : ProtobufTraceSerializer;
  const bytes = serializer.serializeRequest(toReadable(trace));
  if (bytes === undefined) throw new Error('OpenTelemetry returned no bytes for a trace.');
  return bytes;
}

type ReadableSpans = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0];
type ReadableSpan = ReadableSpans[number];

/** Converts a trace for the serializer, which groups spans by resource object. */
function toReadable({ traceId, spans, resource, scope }: Trace): ReadableSpans {
  const ofAll = toOtlpResource(resource);
  const instrumentationScope = { ...scope, schemaUrl };
  return spans.map((span) => toReadableSpan(span, { traceId, resource: ofAll, instrumentationScope }));
}

export function toOtlpResource(attributes: Attributes): ReadableSpan['resource'] {
  const resource: ReadableSpan['resource'] = {
    attributes,
    schemaUrl,
    getRawAttributes: () => Object.entries(attributes),
    merge: () => resource,
  };
  return resource;
}

type Shared = Pick<ReadableSpan, 'resource' | 'instrumentationScope'> & { traceId: string };

function toReadableSpan(span: Span, { traceId, resource, instrumentationScope }: Shared): ReadableSpan {
  const context = { traceId, spanId: span.id, traceFlags: sampled };
  const readable: Writable<ReadableSpan> = {
    name: span.name,
    kind: span.kind === 'server' ? serverKind : internalKind,
    spanContext: () => context,
    startTime: toHighResolution(span.startMs),
    endTime: toHighResolution(span.endMs),
    duration: toHighResolution(span.endMs - span.startMs),
    ended: true,
    status: span.isError ? errorStatus : unsetStatus,
    attributes: span.attributes,
    links: span.links.length === 0 ? [] : span.links.map(toLink),
    events: [],
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
  if (span.parentId !== undefined) {
    // Only the parent of a root span belongs to another service.
    const isRemote = span.kind === 'server';
    readable.parentSpanContext = { traceId, spanId: span.parentId, traceFlags: sampled, isRemote };
  }
  return readable;
}

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] };

function toLink({ traceId, spanId, attributes }: SpanLink): ReadableSpan['links'][number] {
  return { context: { traceId, spanId, traceFlags: sampled, isRemote: true }, attributes };
}

// The numbers of OpenTelemetry's enumerations.
const internalKind = 0;
const serverKind = 1;
const unsetStatus = { code: 0 };
const errorStatus = { code: 2 };
const sampled = 1;

export function toHighResolution(ms: number): [number, number] {
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
}

export function encodeLogs({ resource, scope, records }: LogRecords, format: TraceFormat): Uint8Array {
  const serializer = format === 'json' ? JsonLogsSerializer : ProtobufLogsSerializer;
  const shared = { resource: toOtlpResource(toWellFormed(resource)), instrumentationScope: { ...scope, schemaUrl } };
  const bytes = serializer.serializeRequest(records.map((record) => ({ ...toReadableRecord(record), ...shared })));
  if (bytes === undefined) throw new Error('OpenTelemetry returned no bytes for log records.');
  return bytes;
}

function toReadableRecord({ atMs, observedMs, level, body, eventName, span, attributes }: LogRecord) {
  return {
    // In OTLP, a time of 0 means that it is unknown.
    hrTime: toHighResolution(atMs ?? 0),
    hrTimeObserved: toHighResolution(observedMs),
    severityNumber: severities[level],
    severityText: level,
    body: body.toWellFormed(),
    ...(eventName === undefined ? {} : { eventName }),
    ...(span === undefined ? {} : { spanContext: { ...span, traceFlags: sampled } }),
    attributes: toWellFormed(attributes),
    droppedAttributesCount: 0,
  };
}

/** Replaces single halves of surrogate pairs, because a backend may refuse JSON that contains them. */
function toWellFormed(attributes: Attributes): Attributes {
  const entries = Object.entries(attributes);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? value.toWellFormed() : value]),
  );
}

/** The numbers of OpenTelemetry's enumeration. */
const severities = { ERROR: 17, WARN: 13, NORMAL: 9 } as const;
