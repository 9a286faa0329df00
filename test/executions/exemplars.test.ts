import { describe, expect, it } from 'vitest';
import { createSeriesSlots, type Totals } from '../../src/executions/counting/series-slots.ts';
import { type Cell, toCellKey } from '../../src/executions/counting/totals.ts';
import { createExemplars, type TracedRun } from '../../src/executions/series/exemplars.ts';
import { someRun } from './some-execution.ts';

const hour = 3_600_000;

describe('executions/exemplars', () => {
  it('uses the slowest run of a bucket as its exemplar', () => {
    expect(show([ended(1, 2), ended(2, 9), ended(3, 3)])).toEqual(['-', 't2 9', '-']);
  });

  it('replaces an exemplar by a faster run after an hour', () => {
    expect(show([ended(1, 9), ended(2, 3, { atMs: 2 * hour })])).toEqual(['-', 't2 3', '-']);
  });

  it.each(['failed', 'timedout', 'other'] as const)(
    'uses the newest run of a bucket as exemplar for status %s',
    (status) => {
      expect(show([ended(1, 9, { status }), ended(2, 3, { status })], cellOf(status))).toEqual(['-', 't2 3', '-']);
    },
  );

  it('never uses an exemplar older than the previous one', () => {
    const status = 'failed';
    const runs = [ended(1, 2, { status, atMs: hour }), ended(2, 9, { status, atMs: hour })];
    expect(show(runs, cellOf(status))).toEqual(['-', 't1 2', '-']);
  });

  it('replaces a future-dated run by a later run', () => {
    const status = 'failed';
    const runs = [ended(1, 2, { status, atMs: 48 * hour }), ended(2, 9, { status, atMs: 3 * hour + 1 })];
    expect(show(runs, cellOf(status))).toEqual(['-', 't2 9', '-']);
  });

  it('puts a duration at a bound into the bucket below', () => {
    expect(show([ended(1, 1), ended(2, 10), ended(3, 10.001)])).toEqual(['t1 1', 't2 10', 't3 10.001']);
  });

  it('shows the exemplars of other jobs at `__other__`', () => {
    const others = cellOf('succeeded', ['pay', '', '__other__']);
    expect(show([ended(1, 2)], others, [others])).toEqual(['-', 't1 2', '-']);
  });

  it('shows no exemplar at an empty bucket', () => {
    expect(show([ended(1, 2)], { ...cellOf('succeeded'), buckets: [0, 0, 1] })).toEqual(['-', '-', '-']);
  });

  it('omits runs from before the process started', () => {
    const runs = [ended(1, -2), { ...ended(2, 2), run: { ...ended(2, 2).run, project: 'gone' } }];
    expect(show(runs)).toEqual([]);
  });
});

type Given = { readonly status?: 'succeeded' | 'failed' | 'timedout' | 'other'; readonly atMs?: number };

/** A run of this many seconds, which by default ends at the time of its id. */
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
