import { describe, expect, it } from 'vitest';
import { parseTraceparent, toTraceId } from '../../src/tracing/plan/ids.ts';
import { planSource, readRecorded } from './recorded.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';
const value = `00-${trace}-${span}-01`;

function planWith(option: string, mode: 'parent' | 'link' | 'off', recorded = 'succeeded') {
  const source = readRecorded(recorded);
  const execution = { ...source.execution, options: new Map([['traceparent', option]]) };
  return planSource({ ...source, execution }, { joining: { option: 'traceparent', mode } });
}

describe('tracing/traceparent', () => {
  it.each([value, `00-${trace}-${span}-00`, `cc-${trace}-${span}-01`, `01-${trace}-${span}-01-what-comes-later`])(
    'reads %s',
    (text) => {
      expect(parseTraceparent(text)).toEqual({ traceId: trace, spanId: span });
    },
  );

  it.each([
    '',
    'x',
    value.toUpperCase(),
    `${value}-more`,
    `ff-${trace}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `01-${trace}-${span}-01-${'x'.repeat(300)}`,
    `00-${trace}-${span}-1`,
    `01-${trace}-${span}-01.more`,
  ])('refuses %s', (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  it('makes the trace a child of the caller', () => {
    const plan = planWith(value, 'parent', 'delayed-retry');
    const [root] = plan.trace.spans;
    expect(plan.caller).toBe('joined');
    expect(plan.trace.traceId).toBe(trace);
    expect(root?.id).toBe('307b5cfc9224f771');
    expect(root?.parentId).toBe(span);
    // The other attempts are part of the same trace.
    expect(root?.links).toEqual([
      { traceId: trace, spanId: '18fbc4fe12614824', attributes: { 'automation.link': 'retried_by' } },
      { traceId: trace, spanId: 'ab4a3df953aaf8da', attributes: { 'automation.link': 'retry_of' } },
    ]);
  });

  it('links to the caller', () => {
    const plan = planWith(` ${value}\n`, 'link');
    const [root] = plan.trace.spans;
    expect(plan.caller).toBe('linked');
    expect(plan.trace.traceId).toBe('f45e4a6a6cb0f6a2569d62819cbf45ac');
    expect(root?.parentId).toBeUndefined();
    expect(root?.links).toEqual([{ traceId: trace, spanId: span, attributes: { 'automation.link': 'caller' } }]);
  });

  it('ignores a caller if so configured', () => {
    const plan = planWith(value, 'off');
    expect([plan.caller, plan.trace.spans[0]?.links]).toEqual(['none', []]);
  });

  it.each(['parent', 'link'] as const)('reports an invalid value (%s)', (mode) => {
    const plan = planWith(`00-${trace}-${'0'.repeat(16)}-01`, mode);
    expect([plan.caller, plan.trace.spans[0]?.links]).toEqual(['invalid', []]);
    expect(plan.trace.traceId).toBe(toTraceId('https://automation.example.org', '4711'));
  });
});
