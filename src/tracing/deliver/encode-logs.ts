import { JsonLogsSerializer, ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer';
import { schemaUrl } from '../plan/attribute-names.ts';
import type { TraceFormat } from '../plan/estimate.ts';
import type { LogRecord, LogRecords } from '../plan/log-records.ts';
import { sampled, toHighResolution, toOtlpResource } from './encode.ts';

export function encodeLogs({ resource, scope, records }: LogRecords, format: TraceFormat): Uint8Array {
  const serializer = format === 'json' ? JsonLogsSerializer : ProtobufLogsSerializer;
  const shared = { resource: toOtlpResource(resource), instrumentationScope: { ...scope, schemaUrl } };
  const bytes = serializer.serializeRequest(records.map((record) => ({ ...toReadable(record), ...shared })));
  if (bytes === undefined) throw new Error('OpenTelemetry serialized log records to nothing.');
  return bytes;
}

function toReadable({ atMs, observedMs, level, body, eventName, span, attributes }: LogRecord) {
  return {
    // A time of 0 is the protocol's word for an unknown one.
    hrTime: toHighResolution(atMs ?? 0),
    hrTimeObserved: toHighResolution(observedMs),
    severityNumber: severities[level],
    severityText: level,
    body,
    ...(eventName === undefined ? {} : { eventName }),
    ...(span === undefined ? {} : { spanContext: { ...span, traceFlags: sampled } }),
    attributes,
    droppedAttributesCount: 0,
  };
}

/** The numbers of OpenTelemetry's enumeration. */
const severities = { ERROR: 17, WARN: 13, NORMAL: 9 } as const;
