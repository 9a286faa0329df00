import {
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace as tracing,
} from '@opentelemetry/api';
import type { Trace } from '../src/tracing/plan/span.ts';

/** Creates the spans of a planned trace with OpenTelemetry's SDK. */
export function makeSpans(tracer: Tracer, { spans }: Trace): void {
  const contexts = new Map<string, Context>();
  for (const { id, parentId, name, kind, startMs, endMs, isError, attributes, links } of spans) {
    const within = contexts.get(parentId ?? '') ?? ROOT_CONTEXT;
    const span = tracer.startSpan(
      name,
      {
        kind: kind === 'server' ? SpanKind.SERVER : SpanKind.INTERNAL,
        startTime: startMs,
        attributes,
        links: links.map(({ traceId, spanId, attributes: about }) => ({
          context: { traceId, spanId, traceFlags: 1 },
          attributes: about,
        })),
      },
      within,
    );
    contexts.set(id, tracing.setSpan(within, span));
    if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(endMs);
  }
}
