import { describe, expect, it } from 'vitest';
import type { JobFacts } from '../../src/domain/job.ts';
import { createSeriesSlots, type SeriesSlots, type SlotKind } from '../../src/executions/counting/series-slots.ts';
import { type Cell, toJobKey } from '../../src/executions/counting/totals.ts';

describe('executions/series-slots', () => {
  it('assigns slots permanently, in the order of first use', () => {
    const slots = withRoom(2);
    expect(['a', 'b', 'c', 'a'].map((name) => take(slots, name))).toEqual([true, true, false, true]);
  });

  it('assigns more slots to a long name', () => {
    const long = toJobKey('pay', '', 'x'.repeat(1000));
    const slots = withRoom(12);
    const claims = slots.claim();
    expect([long, job('a'), job('b')].map((key) => claims.has('jobs', key))).toEqual([true, true, false]);
    slots.settle(claims);
    expect(slots.taken().jobs).toBe(11.5625);
    expect(take(slots, 'b')).toBe(false);
    slots.leave('jobs', long);
    expect(slots.taken().jobs).toBe(1);
    expect(take(slots, 'b')).toBe(true);
  });

  it('assigns no slot before the commit', () => {
    const slots = withRoom(1);
    expect(slots.has('jobs', job('a'))).toBe(false);
    expect(slots.claim().has('jobs', job('a'))).toBe(true);
    expect(slots.taken()).toEqual({ jobs: 0, durations: 0, nodes: 0 });
    expect(slots.claim().has('jobs', job('b'))).toBe(true);
  });

  it('assigns a slot only once within one change', () => {
    const claims = withRoom(1).claim();
    expect(claims.has('jobs', job('a'))).toBe(true);
    expect(claims.has('jobs', job('b'))).toBe(false);
    expect(claims.has('jobs', job('a'))).toBe(true);
  });

  it('restores the slots after a restart', () => {
    const facts = (leftOut: JobFacts['leftOut']): JobFacts => ({
      project: 'pay',
      group: '',
      name: 'any',
      jobId: undefined,
      lastStartMs: 0,
      lastEndMs: 0,
      lastId: 1,
      lastEnding: 'succeeded',
      consecutiveFailures: 0,
      leftOut,
    });
    const cells = [
      cell('runs', ['pay', 'nightly', 'settle', 'succeeded']),
      cell('durations', ['pay', '', 'copy', 'succeeded']),
      cell('node-failures', ['pay', 'web01']),
      ...(['runs', 'durations'] as const).flatMap((kind) => [
        cell(kind, ['pay', '', 'left', 'succeeded']),
        cell(kind, ['pay', '', 'half', 'succeeded']),
      ]),
    ];
    const jobs = new Map([
      [job('left'), facts('all')],
      [job('half'), facts('durations')],
    ]);
    const slots = createSeriesSlots(cells, jobs);
    const has = (kind: SlotKind, ...keys: string[]) => keys.map((key) => slots.has(kind, key));
    const settle = toJobKey('pay', 'nightly', 'settle');
    expect(has('jobs', settle, job('copy'), job('left'), job('half'))).toEqual([true, false, false, true]);
    expect(has('durations', settle, job('copy'), job('left'), job('half'))).toEqual([false, true, false, false]);
    expect(has('nodes', '["pay","web01"]')).toEqual([true]);
    expect(slots.refused()).toEqual({ jobs: 1, durations: 2, nodes: 0 });
  });

  it('assigns no slot to names that stand for several jobs', () => {
    const slots = createSeriesSlots([
      cell('runs', ['pay', '', '', 'succeeded']),
      cell('runs', ['pay', '', '__deleted__', 'succeeded']),
      cell('durations', ['pay', '', '__deleted__', 'succeeded']),
      cell('runs', ['pay', '', '__other__', 'succeeded']),
      cell('node-failures', ['pay', '__other__']),
    ]);
    expect(slots.taken()).toEqual({ jobs: 0, durations: 0, nodes: 0 });
  });

  it('assigns the slots of a deleted project to other projects', () => {
    const slots = createSeriesSlots([
      cell('runs', ['pay', '', 'a', 'succeeded']),
      cell('runs', ['pay2', '', 'a', 'failed']),
    ]);
    slots.setRoom({ jobs: 2, durations: 2, nodes: 2 });
    expect(take(slots, 'a', 'stock')).toBe(false);
    slots.forget('pay');
    expect(take(slots, 'a', 'stock')).toBe(true);
    expect(take(slots, 'b', 'stock')).toBe(false);
  });

  it('counts each owner without a slot once', () => {
    const slots = withRoom(1);
    for (const name of ['a', 'b', 'c', 'b']) take(slots, name);
    expect(slots.refused().jobs).toBe(2);
    slots.setRoom({ jobs: 2, durations: 0, nodes: 0 });
    take(slots, 'c');
    expect(slots.refused().jobs).toBe(1);
  });

  it('distinguishes jobs whose groups and names are equal when joined', () => {
    const slots = withRoom(1);
    slots.settle(claimed(slots, toJobKey('pay', 'a', 'b/c')));
    expect(slots.has('jobs', toJobKey('pay', 'a', 'b/c'))).toBe(true);
    expect(slots.has('jobs', toJobKey('pay', 'a/b', 'c'))).toBe(false);
  });
});

function withRoom(jobs: number): SeriesSlots {
  const slots = createSeriesSlots([]);
  slots.setRoom({ jobs, durations: 0, nodes: 0 });
  return slots;
}

function claimed(slots: SeriesSlots, key: string) {
  const claims = slots.claim();
  claims.has('jobs', key);
  return claims;
}

/** Requests a slot like a committed change. */
function take(slots: SeriesSlots, name: string, project = 'pay'): boolean {
  const key = toJobKey(project, '', name);
  slots.settle(claimed(slots, key));
  return slots.has('jobs', key);
}

function job(name: string): string {
  return toJobKey('pay', '', name);
}

function cell(kind: Cell['kind'], labels: readonly string[]): Cell {
  return { kind, labels, count: 1, isReleased: true };
}
