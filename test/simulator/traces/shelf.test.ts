import { describe, expect, it } from 'vitest';
import { createShelf } from '../../../simulator/traces/shelf.ts';
import { startMs, sunk } from './some-spans.ts';

const limits = { traces: 3, bytes: 1000 };

describe('simulator/traces/shelf', () => {
  it('lists the trace with the latest start first', () => {
    const shelf = createShelf(limits);
    for (const minute of [2, 3, 1]) shelf.keep([sunk({ id: 'a', traceId: `t${minute}`, startMs: startMs + minute })]);
    expect(shelf.list().map(({ traceId }) => traceId)).toEqual(['t3', 't2', 't1']);
  });

  it('drops the earliest traces beyond the limits', () => {
    const shelf = createShelf(limits);
    for (const minute of [4, 1, 2, 3])
      shelf.keep([sunk({ id: 'a', traceId: `t${minute}`, startMs: startMs + minute })]);
    expect(shelf.list().map(({ traceId }) => traceId)).toEqual(['t4', 't3', 't2']);
    shelf.keep([sunk({ id: 'a', traceId: 't5', startMs: startMs + 5, bytes: 850 })]);
    expect(shelf.list().map(({ traceId }) => traceId)).toEqual(['t5', 't4']);
    shelf.keep([sunk({ id: 'a', traceId: 't6', startMs: startMs + 6, bytes: 1001 })]);
    expect(shelf.list()).toEqual([]);
    shelf.keep([sunk({ id: 'a', traceId: 't7', bytes: 1000 })]);
    expect(shelf.list().map(({ traceId }) => traceId)).toEqual(['t7']);
  });

  it('shows a trace once, even if it was sent several times', () => {
    const shelf = createShelf(limits);
    const root = sunk({ id: 'a' });
    const step = sunk({ id: 'b', parentId: 'a', startMs: startMs - 5 });
    for (let times = 0; times < 20; times += 1) {
      shelf.keep([step]);
      shelf.keep([root, step]);
    }
    expect(shelf.list().map((trace) => [trace.root.id, trace.spans.map(({ id }) => id)])).toEqual([['a', ['b', 'a']]]);
  });

  it('accepts two spans that name each other as parent', () => {
    const shelf = createShelf(limits);
    shelf.keep([sunk({ id: 'a', parentId: 'b', startMs: startMs + 1 }), sunk({ id: 'b', parentId: 'a' })]);
    expect(shelf.list().map(({ root }) => root.id)).toEqual(['b']);
  });
});
