import { describe, expect, it } from 'vitest';
import { createPlaces, type PlaceKind, type Places } from '../../src/executions/counting/series-slots.ts';
import { type Cell, type JobFacts, toJobKey } from '../../src/executions/counting/totals.ts';

describe('executions/series-slots', () => {
  it('gives places in order of coming, as long as there are any, and for good', () => {
    const places = withRoom(2);
    expect(['a', 'b', 'c', 'a'].map((name) => take(places, name))).toEqual([true, true, false, true]);
  });

  it('gives nothing to who merely asks, nor to a change that is never committed', () => {
    const places = withRoom(1);
    expect(places.has('jobs', job('a'))).toBe(false);
    expect(places.claim().has('jobs', job('a'))).toBe(true);
    expect(places.taken()).toEqual({ jobs: 0, durations: 0, nodes: 0 });
    expect(places.claim().has('jobs', job('b'))).toBe(true);
  });

  it('gives no place twice within one change', () => {
    const claims = withRoom(1).claim();
    expect(claims.has('jobs', job('a'))).toBe(true);
    expect(claims.has('jobs', job('b'))).toBe(false);
    expect(claims.has('jobs', job('a'))).toBe(true);
  });

  it('knows the places that were taken before a restart, and those that were given back', () => {
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
    const places = createPlaces(cells, jobs);
    const has = (kind: PlaceKind, ...keys: string[]) => keys.map((key) => places.has(kind, key));
    const settle = toJobKey('pay', 'nightly', 'settle');
    expect(has('jobs', settle, job('copy'), job('left'), job('half'))).toEqual([true, false, false, true]);
    expect(has('durations', settle, job('copy'), job('left'), job('half'))).toEqual([false, true, false, false]);
    expect(has('nodes', '["pay","web01"]')).toEqual([true]);
    expect(places.refused()).toEqual({ jobs: 1, durations: 2, nodes: 0 });
  });

  it('keeps no place for what stands for no job in particular', () => {
    const places = createPlaces([
      cell('runs', ['pay', '', '', 'succeeded']),
      cell('runs', ['pay', '', '__deleted__', 'succeeded']),
      cell('durations', ['pay', '', '__deleted__', 'succeeded']),
      cell('runs', ['pay', '', '__other__', 'succeeded']),
      cell('node-failures', ['pay', '__other__']),
    ]);
    expect(places.taken()).toEqual({ jobs: 0, durations: 0, nodes: 0 });
  });

  it('gives the places of a project that is gone for good to others', () => {
    const places = createPlaces([
      cell('runs', ['pay', '', 'a', 'succeeded']),
      cell('runs', ['pay2', '', 'a', 'failed']),
    ]);
    places.setRoom({ jobs: 2, durations: 2, nodes: 2 });
    expect(take(places, 'a', 'stock')).toBe(false);
    places.forget('pay');
    expect(take(places, 'a', 'stock')).toBe(true);
    expect(take(places, 'b', 'stock')).toBe(false);
  });

  it('says how many ask in vain, each once, until they get a place', () => {
    const places = withRoom(1);
    for (const name of ['a', 'b', 'c', 'b']) take(places, name);
    expect(places.refused().jobs).toBe(2);
    places.setRoom({ jobs: 2, durations: 0, nodes: 0 });
    take(places, 'c');
    expect(places.refused().jobs).toBe(1);
  });

  it('tells jobs apart whose names look alike when joined', () => {
    const places = withRoom(1);
    places.settle(claimed(places, toJobKey('pay', 'a', 'b/c')));
    expect(places.has('jobs', toJobKey('pay', 'a', 'b/c'))).toBe(true);
    expect(places.has('jobs', toJobKey('pay', 'a/b', 'c'))).toBe(false);
  });
});

function withRoom(jobs: number): Places {
  const places = createPlaces([]);
  places.setRoom({ jobs, durations: 0, nodes: 0 });
  return places;
}

function claimed(places: Places, key: string) {
  const claims = places.claim();
  claims.has('jobs', key);
  return claims;
}

/** Asks for a place as a change that is committed does. */
function take(places: Places, name: string, project = 'pay'): boolean {
  const key = toJobKey(project, '', name);
  places.settle(claimed(places, key));
  return places.has('jobs', key);
}

function job(name: string): string {
  return toJobKey('pay', '', name);
}

function cell(kind: Cell['kind'], labels: readonly string[]): Cell {
  return { kind, labels, count: 1, isReleased: true };
}
