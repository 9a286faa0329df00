import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { Span } from '../../src/tracing/plan/span.ts';
import { clampInto } from '../../src/tracing/plan/times.ts';
import { fc } from '../support/property.ts';
import { randomSource } from './random-source.ts';
import { planRecorded, planSource, settings } from './recorded.ts';

function findFaults(spans: readonly Span[]): readonly string[] {
  const faults: string[] = [];
  const seen = new Map<string, Span>();
  for (const [place, span] of spans.entries()) {
    const parent = span.parentId === undefined ? undefined : seen.get(span.parentId);
    const { startMs, endMs } = parent ?? span;
    if (seen.has(span.id)) faults.push(`${span.name} has an id that is taken`);
    if ((parent === undefined) !== (place === 0))
      faults.push(`${span.name} has no parent before it, or is one root more`);
    if (span.startMs < startMs || span.endMs > endMs) faults.push(`${span.name} is not within its parent`);
    if (!(span.startMs <= span.endMs)) faults.push(`${span.name} ends before it starts`);
    if (!Number.isSafeInteger(span.startMs + span.endMs)) faults.push(`${span.name} has odd times`);
    seen.set(span.id, span);
  }
  return faults;
}

const limit = fc.constantFrom(2, 3, 5, 10, 5000);

describe('tracing/plan, any tree', () => {
  it('keeps every child within its parent', () => {
    const property = fc.property(randomSource, limit, (source, maxSpans) => {
      const plan = planSource(source, { maxSpans });
      expect(findFaults(plan.trace.spans)).toEqual([]);
      expect(plan.trace.spans.length).toBeLessThanOrEqual(maxSpans);
      // The trace counts all spans that it omits.
      const rests = plan.trace.spans.filter(({ attributes }) => 'automation.rest.count' in attributes).length;
      expect(plan.trace.spans.length - rests + plan.leftOut).toBe(planSource(source).trace.spans.length);
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('has the same result when it is planned again', () => {
    const property = fc.property(randomSource, limit, (source, maxSpans) => {
      const copy = structuredClone(source);
      expect(planSource(copy, { maxSpans })).toEqual(planSource(source, { maxSpans }));
      expect(copy).toEqual(source);
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('computes the same id for a span at any limit', () => {
    const property = fc.property(randomSource, (source) => {
      const all = new Set(planSource(source).trace.spans.map(({ id }) => id));
      const { spans } = planSource(source, { maxSpans: 6 }).trace;
      const own = spans.filter(({ attributes }) => !('automation.rest.count' in attributes));
      expect(own.filter(({ id }) => !all.has(id))).toEqual([]);
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('limits the times of a span to the times of its parent', () => {
    const parent = { startMs: 10, endMs: 20 };
    expect(clampInto(parent, { startMs: 5, endMs: 12 })).toEqual({ startMs: 10, endMs: 12 });
    expect(clampInto(parent, { startMs: 15, endMs: 30 })).toEqual({ startMs: 15, endMs: 20 });
    expect(clampInto(parent, { startMs: 15, endMs: 11 })).toEqual({ startMs: 15, endMs: 15 });
    expect(clampInto(parent, { startMs: 1, endMs: 2 })).toEqual({ startMs: 10, endMs: 10 });
    expect(clampInto(parent, { startMs: 30, endMs: 40 })).toEqual({ startMs: 20, endMs: 20 });
  });
});

describe('tracing/plan, ids', () => {
  it('computes the same ids as a shell', () => {
    const recipe = `
      trace() { printf '%s\\n' ax1 trace "$NS" "$ID" | sha256sum | cut -c1-32; }
      span() { printf '%s\\n' ax1 span "$NS" "$ID" "$@" | sha256sum | cut -c1-16; }
      trace; span root; span wait start; span step 1; span node 1 web01; span step 2
      span node 2 web01; span step '2@node=web01/1'; span node '2@node=web01/1' web01; span step 1e; span node 1e web02
      span rest 1; span rest`;
    const env = { ...process.env, NS: settings.namespace, ID: '4711' };
    const printed = execFileSync('sh', ['-c', recipe], { env }).toString().trim().split('\n');
    const [trace, root, wait, step1, node1, step2, node2, below, nodeBelow, handler, handlerNode, rest, restOfRoot] =
      printed;
    const idsOf = (name: string, maxSpans = 5000) => planRecorded(name, { maxSpans }).trace.spans.map(({ id }) => id);

    expect(planRecorded('per-node-reference').trace.traceId).toBe(trace);
    expect(idsOf('delayed-retry')).toEqual([root, wait, step1, node1]);
    expect(idsOf('per-node-reference')).toEqual(
      expect.arrayContaining([root, step1, node1, step2, node2, below, nodeBelow]),
    );
    expect(idsOf('recovered-handler')).toEqual(expect.arrayContaining([handler, handlerNode]));
    expect(idsOf('failed-node', 3)).toEqual([root, step1, rest]);
    expect(idsOf('aborted', 2)).toEqual([root, restOfRoot]);
  });
});
