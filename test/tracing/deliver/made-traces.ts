import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { SpooledTrace, TraceEncoding } from '../../../src/state/spool.ts';

type Spans = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0];

type Given = {
  readonly encoding?: TraceEncoding;
  readonly spans?: number;
  /** The name of the process that made the trace. */
  readonly maker?: string;
};

/** Makes a small and complete trace of an execution: one resource and some spans. */
export function makeTrace(id: number, given: Given = {}) {
  const { encoding = 'protobuf', spans = 3, maker = 'test' } = given;
  const serializer = encoding === 'protobuf' ? ProtobufTraceSerializer : JsonTraceSerializer;
  return {
    key: `prod/${id}`,
    server: 'prod',
    executionId: String(id),
    startedAtMs: 1000,
    spooledAtMs: 2000,
    encoding,
    spans,
    bytes: serializer.serializeRequest(makeSpans(id, spans, maker)) ?? new Uint8Array(),
  } satisfies SpooledTrace;
}

export function makeTraces(count: number, given: Given = {}): readonly SpooledTrace[] {
  return Array.from({ length: count }, (_, index) => makeTrace(index + 1, given));
}

/** Splits bytes into the spooled traces; every byte must belong to one trace. */
export function splitTraces(bytes: Uint8Array): readonly Buffer[] {
  const traces: Buffer[] = [];
  let start = 0;
  while (start < bytes.length) {
    let at = start + 1;
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      size += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    traces.push(Buffer.from(bytes.subarray(start, at + size)));
    start = at + size;
  }
  return traces;
}

function makeSpans(id: number, count: number, maker: string): Spans {
  const attributes = { 'service.name': 'automation-service', 'cicd.pipeline.run.id': String(id), maker };
  const resource = { attributes };
  const spans = Array.from({ length: count }, (_, index) => ({
    name: index === 0 ? `RUN shop/${id}/nightly` : `step ${index}`,
    kind: index === 0 ? 1 : 0,
    spanContext: () => ({
      traceId: id.toString(16).padStart(32, '0'),
      spanId: (id * 1000 + index + 1).toString(16).padStart(16, '0'),
      traceFlags: 1,
    }),
    startTime: [1_700_000_000 + index, 0],
    endTime: [1_700_000_010 + index, 0],
    duration: [10, 0],
    ended: true,
    status: { code: 0 },
    attributes: { 'cicd.pipeline.task.name': `step ${index}`, 'cicd.pipeline.task.run.id': String(index) },
    links: [],
    events: [],
    resource,
    instrumentationScope: { name: 'automation-exporter', version: '1.0.0' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }));
  // This cast is safe: the serializer reads only these fields.
  return spans as unknown as Spans;
}
