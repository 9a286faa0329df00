import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { finish } from '../../src/domain/pause.ts';
import { encodeTrace } from '../../src/tracing/deliver/encode.ts';
import { estimateBytes } from '../../src/tracing/plan/estimate.ts';
import type { Trace } from '../../src/tracing/plan/span.ts';
import { describeWithTools } from '../support/tools.ts';
import { planRecorded } from './recorded.ts';

const recorded = readdirSync(join(import.meta.dirname, 'recorded')).map((file) => file.replace('.json', ''));
const withAll = { withUserNames: true, withArgstring: true };

/** The content that the decoder should return for our spans. */
function toExpected({ traceId, spans, resource, scope }: Trace): unknown {
  const expected = spans.map((span) => ({
    trace: traceId,
    id: span.id,
    parent: span.parentId ?? '',
    name: span.name,
    kind: span.kind === 'server' ? 2 : 1,
    start: `${span.startMs}000000`,
    end: `${span.endMs}000000`,
    status: span.isError ? 2 : 0,
    message: '',
    flags: 0x101,
    attributes: span.attributes,
    links: span.links.map((link) => ({ trace: link.traceId, id: link.spanId, attributes: link.attributes })),
  }));
  return [{ resource, scopes: [{ ...scope, spans: expected }] }];
}

describeWithTools('tracing/encode', ['opentelemetry-proto'], (paths) => {
  const read = (bytes: Uint8Array): unknown => {
    const script = join(import.meta.dirname, 'read-otlp.py');
    const options = { input: bytes, maxBuffer: 64 * 1024 * 1024, timeout: 20_000 };
    return JSON.parse(execFileSync(paths['opentelemetry-proto'], [script], options).toString('utf8'));
  };

  it.each(recorded)('writes bytes that another decoder reads as the same tree (%s)', (name) => {
    const { trace } = planRecorded(name, withAll);
    expect(read(encodeTrace(trace, 'protobuf'))).toEqual(toExpected(trace));
  });

  it('marks a remote parent', () => {
    const { trace } = planRecorded('succeeded');
    const spans = trace.spans.map((span, place) => (place === 0 ? { ...span, parentId: '00f067aa0ba902b7' } : span));
    const [first] = read(encodeTrace({ ...trace, spans }, 'protobuf')) as {
      scopes: { spans: { parent: string; flags: number }[] }[];
    }[];
    expect(first?.scopes[0]?.spans[0]).toMatchObject({ parent: '00f067aa0ba902b7', flags: 0x301 });
    expect(first?.scopes[0]?.spans[1]).toMatchObject({ flags: 0x101 });
  });

  const cases = recorded.flatMap((name) => (['protobuf', 'json'] as const).map((format) => ({ name, format })));
  it.each(cases)('needs no more bytes than estimated ($name, $format)', ({ name, format }) => {
    const { trace } = planRecorded(name, withAll);
    const bytes = encodeTrace(trace, format).length;
    const estimated = finish(estimateBytes(trace.spans, trace.resource, format));
    expect(bytes).toBeLessThanOrEqual(estimated);
    expect(bytes * 4).toBeGreaterThan(estimated);
  });

  it.each(['protobuf', 'json'] as const)('estimates the bytes of short spans in %s', (format) => {
    const bare = { kind: 'internal', isError: true, attributes: {}, links: [], why: '' } as const;
    const times = { startMs: 1_716_200_000_123, endMs: 1_716_200_009_456 };
    for (const name of ['x', '\u0001'.repeat(100), '時'.repeat(200)]) {
      const spans = Array.from({ length: 50 }, () => ({
        ...bare,
        ...times,
        id: 'ab'.repeat(8),
        parentId: 'cd'.repeat(8),
        name,
      }));
      const trace = { traceId: 'ef'.repeat(16), spans, resource: {}, scope: { name: 'x', version: '1' } };
      expect(encodeTrace(trace, format).length).toBeLessThanOrEqual(finish(estimateBytes(spans, {}, format)));
    }
  });

  it.each(['protobuf', 'json'] as const)('estimates the bytes of names with special characters in %s', (format) => {
    const { trace } = planRecorded('succeeded');
    const attributes = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`automation.job.option.${'時'.repeat(60)}${index}`, 'x']),
    );
    const spans = trace.spans.map((span) => ({ ...span, attributes: { ...span.attributes, ...attributes } }));
    const bytes = encodeTrace({ ...trace, spans }, format).length;
    expect(bytes).toBeLessThanOrEqual(finish(estimateBytes(spans, trace.resource, format)));
  });

  it('states the version of the semantic conventions', () => {
    const request: unknown = JSON.parse(new TextDecoder().decode(encodeTrace(planRecorded('succeeded').trace, 'json')));
    const schemaUrl = 'https://opentelemetry.io/schemas/1.45.0';
    expect(request).toMatchObject({ resourceSpans: [{ schemaUrl, scopeSpans: [{ schemaUrl }] }] });
  });

  it('writes JSON with the same ids', () => {
    const { trace } = planRecorded('failed-node');
    const request: unknown = JSON.parse(new TextDecoder().decode(encodeTrace(trace, 'json')));
    const spans = trace.spans.map(({ id, name }) => ({ traceId: trace.traceId, spanId: id, name }));
    expect(request).toMatchObject({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  });

  it('writes the same bytes every time', () => {
    const bytes = ['per-node-reference', 'per-node-reference'].map((name) =>
      Buffer.from(encodeTrace(planRecorded(name).trace, 'protobuf')).toString('hex'),
    );
    expect(bytes[0]).toBe(bytes[1]);
  });
});
