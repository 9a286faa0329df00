import type { SunkSpan } from '../../../simulator/traces/read-request.ts';
import { encodeTrace } from '../../../src/tracing/deliver/encode.ts';
import type { Span, Trace } from '../../../src/tracing/plan/span.ts';

export const traceId = '0123456789abcdef0123456789abcdef';
export const startMs = Date.UTC(2026, 0, 15, 12);

/** A span as our own exporter plans it. */
export function planned(span: Partial<Span> & Pick<Span, 'id' | 'parentId' | 'name'>): Span {
  return {
    kind: 'internal',
    startMs,
    endMs: startMs + 1000,
    isError: false,
    attributes: {},
    links: [],
    why: '',
    ...span,
  };
}

/** Encodes a request as our own exporter sends it. */
export function encode(spans: readonly Span[], { resource = {}, id = traceId } = {}): Buffer {
  const trace: Trace = { traceId: id, spans, resource, scope: { name: 'automation-exporter', version: '1' } };
  return Buffer.from(encodeTrace(trace, 'protobuf'));
}

/** A span as the sink stores it. */
export function sunk(span: Partial<SunkSpan> & Pick<SunkSpan, 'id'>): SunkSpan {
  return {
    traceId,
    parentId: '',
    name: span.id,
    startMs,
    endMs: startMs + 1000,
    isError: false,
    attributes: new Map(),
    links: [],
    resource: new Map(),
    bytes: 100,
    ...span,
  };
}
