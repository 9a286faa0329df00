import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ReplayOptions, replay } from '../../../src/tracing/enrich/replay.ts';

const base: ReplayOptions = { namespace: undefined, format: 'tree', version: '0.1.0' };
const read = (name: string) => readFileSync(join(import.meta.dirname, '..', 'recorded', `${name}.json`), 'utf8');

describe('tracing/enrich/replay', () => {
  it('prints the tree of a recorded execution', () => {
    expect(`\n${replay(read('failed-node'), base)}`).toBe(`
trace f45e4a6a6cb0f6a2569d62819cbf45ac, 4 spans
RUN shop/load/etl/nightly 0..9333 failure NonZeroResultCode [not-started 1] - the execution failed: first failure NonZeroResultCode
  Build (1) 0..5000 failure NonZeroResultCode [clamped] - failed, NonZeroResultCode below
    web01 (1@web01) 0..3000 success [clamped] - succeeded
    web02 (1@web02) 0..4900 failure NonZeroResultCode [clamped] - failed, NonZeroResultCode
`);
  });

  it('prints the number of spans that a very large trace omits', () => {
    const { execution, state } = JSON.parse(read('failed-node')) as { execution: object; state: { steps: object[] } };
    const steps = Array.from({ length: 1667 }, (_, at) => ({ ...state.steps[0], stepctx: `${at + 1}` }));
    const [title] = replay(JSON.stringify({ execution, state: { ...state, steps } }), base).split('\n');
    expect(title).toContain(', 5000 spans, 3 left out');
  });

  it('uses the given namespace for ids', () => {
    const [title] = replay(read('no-state'), { ...base, namespace: 'https://automation.example.org#2' }).split('\n');
    expect(title).toBe('trace 2bbe64ade96f1ac22b02a32132a90541, 1 span');
  });

  it('reports an unknown status', () => {
    const [title] = replay(read('unknown-status'), base).split('\n');
    expect(title).toBe('trace f45e4a6a6cb0f6a2569d62819cbf45ac, 2 spans, an unknown status');
  });

  it('prints the OTLP request', () => {
    const request: unknown = JSON.parse(replay(read('no-state'), { ...base, format: 'json' }));
    const span = { spanId: '307b5cfc9224f771', name: 'RUN shop/load/etl/nightly' };
    expect(request).toMatchObject({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
  });

  it('prints nothing for an unfinished execution', () => {
    const running = '{"execution":{"id":1,"status":"running","date-started":{"unixtime":1716200000123}}}';
    expect(replay(running, base)).toBe('No trace: the execution has not ended, or never started.\n');
    expect(replay(running, { ...base, format: 'json' })).toBe('{"resourceSpans":[]}\n');
  });

  it.each([
    ['', 'JSON'],
    ['[]', 'expected object'],
    ['{"execution":{}}', 'expected number'],
    ['{"execution":{"id":1}}', 'is missing'],
  ])('reports the problem of %j', (recording, message) => {
    expect(() => replay(recording, base)).toThrow(message);
  });
});
