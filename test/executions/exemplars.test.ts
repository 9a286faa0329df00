import { describe, expect, it } from 'vitest';
import { createSeriesSlots, type Totals } from '../../src/executions/counting/series-slots.ts';
import { type Cell, toCellKey } from '../../src/executions/counting/totals.ts';
import { createExemplars, type TracedRun } from '../../src/executions/series/exemplars.ts';
import { someRun } from './some-execution.ts';

const hour = 3_600_000;

describe('executions/exemplars', () => {
  it('lets the slowest run stand for its bucket', () => {
    expect(show([ended(1, 2), ended(2, 9), ended(3, 3)])).toEqual(['-', 't2 9', '-']);
  });

  it('lets a slower run of an hour ago make room', () => {
    expect(show([ended(1, 9), ended(2, 3, { atMs: 2 * hour })])).toEqual(['-', 't2 3', '-']);
  });

  it.each(['failed', 'timedout', 'other'] as const)(
    'lets the newest of those that are %s stand for its bucket',
    (status) => {
      expect(show([ended(1, 9, { status }), ended(2, 3, { status })], cellOf(status))).toEqual(['-', 't2 3', '-']);
    },
  );

  it('never goes back in time', () => {
    const status = 'failed';
    const runs = [ended(1, 2, { status, atMs: hour }), ended(2, 9, { status, atMs: hour - 1 })];
    expect(show(runs, cellOf(status))).toEqual(['-', 't1 2', '-']);
  });

  it('lets a later run replace one that is dated ahead', () => {
    const status = 'failed';
    const runs = [ended(1, 2, { status, atMs: 48 * hour }), ended(2, 9, { status, atMs: 3 * hour + 1 })];
    expect(show(runs, cellOf(status))).toEqual(['-', 't2 9', '-']);
  });

  it('puts a run on the bound into the bucket below, and what is beyond the last one into the open one', () => {
    expect(show([ended(1, 1), ended(2, 10), ended(3, 10.001)])).toEqual(['t1 1', 't2 10', 't3 10.001']);
  });

  it('lets runs of jobs without their own durations stand for all of those', () => {
    const others = cellOf('succeeded', ['pay', '', '__other__']);
    expect(show([ended(1, 2)], others, [others])).toEqual(['-', 't1 2', '-']);
  });

  it('shows nothing in a bucket that counts nothing', () => {
    expect(show([ended(1, 2)], { ...cellOf('succeeded'), buckets: [0, 0, 1] })).toEqual(['-', '-', '-']);
  });

  it('leaves out what was not counted, and what ended before it began', () => {
    const runs = [ended(1, -2), { ...ended(2, 2), run: { ...ended(2, 2).run, project: 'gone' } }];
    expect(show(runs)).toEqual([]);
  });
});

type Given = { readonly status?: 'succeeded' | 'failed' | 'timedout' | 'other'; readonly atMs?: number };

/** A run of this many seconds that ends at its id, unless said otherwise. */
function ended(id: number, seconds: number, { status = 'succeeded', atMs = id }: Given = {}): TracedRun {
  const endedAtMs = 1_700_000_000_000 + atMs;
  const times = { startedAtMs: endedAtMs - seconds * 1000, endedAtMs };
  return { run: { ...someRun({ id, status, ...times }), project: 'pay' }, traceId: `t${id}`, spanId: `s${id}` };
}

function cellOf(status: string, job: readonly string[] = ['pay', 'nightly', 'settle']): Cell {
  return { kind: 'durations', labels: [...job, status], count: 3, buckets: [1, 1, 1], isReleased: true };
}

function show(runs: readonly TracedRun[], cell = cellOf('succeeded'), cells: readonly Cell[] = [cell]): string[] {
  const all = new Map(cells.map((each) => [toCellKey(each.kind, each.labels), each]));
  const totals: Totals = { cells: all, jobs: new Map(), slots: createSeriesSlots([]) };
  const exemplars = createExemplars([1, 10]);
  for (const [index, each] of runs.entries()) exemplars.note(each, totals, 1_700_000_000_000 + (index + 3) * hour);
  return exemplars.of(cell).map((exemplar) => (exemplar === undefined ? '-' : `${exemplar.traceId} ${exemplar.value}`));
}
