import { describe, expect, it } from 'vitest';
import { createPlaces } from '../../src/executions/places.ts';
import type { Cell } from '../../src/executions/totals.ts';

describe('executions/places', () => {
  it('gives places in order of coming, as long as there are any, and for good', () => {
    const places = createPlaces([]);
    expect(places.hasJob('pay', '', 'a', 2)).toBe(true);
    expect(places.hasJob('pay', '', 'b', 2)).toBe(true);
    expect(places.hasJob('pay', '', 'c', 2)).toBe(false);
    expect(places.hasJob('pay', '', 'a', 2)).toBe(true);
  });

  it('knows the places that were taken before a restart', () => {
    const places = createPlaces([
      cell('runs', ['pay', 'nightly', 'settle', 'succeeded']),
      cell('durations', ['pay', '', 'copy', 'succeeded']),
      cell('node-failures', ['pay', 'web01']),
    ]);
    expect(places.hasJob('pay', 'nightly', 'settle', 0)).toBe(true);
    expect(places.hasJob('pay', '', 'copy', 0)).toBe(false);
    expect(places.hasDurations('pay', '', 'copy', 0)).toBe(true);
    expect(places.hasNode('pay', 'web01', 0)).toBe(true);
  });

  it('gives no place to what stands for no job in particular', () => {
    const places = createPlaces([
      cell('runs', ['pay', '', '', 'succeeded']),
      cell('runs', ['pay', '', '__deleted__', 'succeeded']),
      cell('runs', ['pay', '', '__other__', 'succeeded']),
      cell('node-failures', ['pay', '__other__']),
    ]);
    expect(places.hasJob('pay', '', 'a', 1)).toBe(true);
    expect(places.hasNode('pay', 'web01', 1)).toBe(true);
    expect(places.hasDurations('pay', '', '__other__', 5)).toBe(false);
  });

  it('gives the places of a project that is gone for good to others', () => {
    const places = createPlaces([
      cell('runs', ['pay', '', 'a', 'succeeded']),
      cell('runs', ['pay2', '', 'a', 'failed']),
    ]);
    expect(places.hasJob('stock', '', 'a', 2)).toBe(false);
    places.forget('pay');
    expect(places.hasJob('stock', '', 'a', 2)).toBe(true);
    expect(places.hasJob('stock', '', 'b', 2)).toBe(false);
  });

  it('tells jobs apart whose names look alike when joined', () => {
    const places = createPlaces([]);
    expect(places.hasJob('pay', 'a', 'b/c', 1)).toBe(true);
    expect(places.hasJob('pay', 'a/b', 'c', 1)).toBe(false);
  });
});

function cell(kind: Cell['kind'], labels: readonly string[]): Cell {
  return { kind, labels, count: 1, isReleased: true };
}
