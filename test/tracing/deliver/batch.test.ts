import { describe, expect, it } from 'vitest';
import { halve, takeAlike, toContent } from '../../../src/tracing/deliver/batch.ts';
import { backoffMs } from '../../../src/tracing/deliver/observer.ts';
import { makeTrace, makeTraces, splitTraces } from './made-traces.ts';

describe('tracing/deliver/batch', () => {
  it('sends a single trace with the bytes in the spool', () => {
    const trace = makeTrace(1);
    expect(toContent([trace])).toEqual({ encoding: 'protobuf', bytes: trace.bytes });
  });

  it('joins protobuf requests byte by byte', () => {
    const traces = makeTraces(3);
    const { bytes } = toContent(traces);
    expect(splitTraces(bytes).map((part) => part.toString('hex'))).toEqual(
      traces.map((trace) => Buffer.from(trace.bytes).toString('hex')),
    );
  });

  it('joins JSON requests into one list', () => {
    const [first, second] = makeTraces(2, { encoding: 'json', spans: 1 });
    if (first === undefined || second === undefined) throw new Error('two traces were made');
    const text = Buffer.from(toContent([first, second]).bytes).toString();
    const listOf = ({ bytes }: typeof first) =>
      (JSON.parse(Buffer.from(bytes).toString()) as { resourceSpans: [] }).resourceSpans;
    expect(JSON.parse(text)).toEqual({ resourceSpans: [...listOf(first), ...listOf(second)] });
    expect(text).toContain(Buffer.from(first.bytes).toString().slice(18, -2));
  });

  it('never joins different encodings', () => {
    const json = makeTrace(3, { encoding: 'json' });
    const odd = { ...json, bytes: Buffer.from('{ "resourceSpans": [] }') };
    const empty = { ...json, bytes: Buffer.from('{"resourceSpans":[]}') };
    const keysOf = (traces: Parameters<typeof takeAlike>[0]) => takeAlike(traces).length;
    expect(keysOf([])).toBe(0);
    expect(keysOf([makeTrace(1), makeTrace(2), json])).toBe(2);
    expect(keysOf([json, json, makeTrace(1)])).toBe(2);
    expect(keysOf([json, odd, json])).toBe(1);
    expect(keysOf([odd, json])).toBe(1);
    expect(keysOf([empty, json])).toBe(1);
  });

  it('splits traces into two parts', () => {
    expect(halve(makeTraces(5)).map((part) => part.map(({ executionId }) => executionId))).toEqual([
      ['1', '2', '3'],
      ['4', '5'],
    ]);
    expect(halve(makeTraces(2)).map(({ length }) => length)).toEqual([1, 1]);
  });
});

describe('tracing/sender/backoff', () => {
  it.each([
    [0, 1, 1000],
    [1, 1, 2000],
    [5, 1, 32_000],
    [6, 1, 60_000],
    [5000, 1, 60_000],
    [3, 0.25, 2000],
    [9, 0, 0],
  ])('waits after %i failed attempts, at random %f, for %i ms', (tries, random, forMs) => {
    expect(backoffMs(tries, random)).toBe(forMs);
  });

  it('never waits less than the backend requested', () => {
    expect(backoffMs(0, 0.5, 7000)).toBe(7000);
    expect(backoffMs(6, 1, 7000)).toBe(60_000);
  });
});
