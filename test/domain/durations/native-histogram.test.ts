import { describe, expect, it } from 'vitest';
import {
  addNatives,
  countNative,
  emptyNative,
  type NativeHistogram,
  observeNative,
} from '../../../src/domain/durations/native-histogram.ts';
import { observe, toNativePart } from '../../../src/domain/durations/stored-histogram.ts';
import { fc } from '../../support/property.ts';

function countAll(values: readonly number[]): NativeHistogram {
  let counted = emptyNative;
  for (const value of values) counted = observeNative(counted, value);
  return counted;
}

/** Computes the histogram slowly, by its definition: a bucket ends at 2 ^ (index / 2 ^ schema). */
function countSlowly(values: readonly number[], schema: number): readonly number[] {
  const counts = new Map<number, number>();
  for (const value of values.filter((one) => one > 0)) {
    let index = -400;
    while (value > 2 ** (index / 2 ** schema)) index += 1;
    counts.set(index, (counts.get(index) ?? 0) + 1);
  }
  return [...counts].sort(([one], [other]) => one - other).flat();
}

describe('domain/native-histogram', () => {
  it('counts each value in the right bucket', () => {
    const milliseconds = fc.oneof(fc.nat(100_000), fc.constantFrom(0, 1000, 2000, 4000, 8000, 500, 250, 1));
    fc.assert(
      fc.property(fc.array(milliseconds.map((ms) => ms / 1000)), (values) => {
        const { schema, zeros, buckets } = countAll(values);
        expect({ schema, zeros }).toEqual({ schema: 3, zeros: values.filter((value) => value === 0).length });
        expect(buckets).toEqual(countSlowly(values, 3));
      }),
    );
  });

  it('halves its resolution permanently once it has more than 160 buckets', () => {
    const values = Array.from({ length: 161 }, (_, index) => 2 ** ((index - 80) / 8));
    expect(countAll(values.slice(1)).schema).toBe(3);
    const wide = countAll(values);
    expect(wide).toEqual({ schema: 2, zeros: 0, buckets: countSlowly(values, 2) });
    expect(observeNative(wide, 1).schema).toBe(2);
    expect(countNative(wide)).toBe(161);
  });

  it('adds two histograms in any order', () => {
    const values = fc.array(fc.double({ min: 1e-9, max: 1e9, noNaN: true }), { maxLength: 250 });
    fc.assert(
      fc.property(values, values, (one, other) => {
        const sum = addNatives(countAll(one), countAll(other));
        expect(sum).toEqual(addNatives(countAll(other), countAll(one)));
        expect(sum.buckets.length).toBeLessThanOrEqual(320);
        expect(countNative(sum)).toBe(one.length + other.length);
      }),
      { numRuns: 30 },
    );
  });

  it('excludes values that another release counted', () => {
    const old = { count: 2, sumSeconds: 7, buckets: [1, 1] };
    expect(toNativePart(old)).toEqual({ native: emptyNative, before: { counts: [1, 1], sum: 7, count: 2 } });

    const next = observe(old, 4, [5]);
    expect(next).toEqual({
      count: 3,
      sumSeconds: 11,
      buckets: [2, 1],
      native: { schema: 3, zeros: 0, buckets: [16, 1] },
      before: { counts: [1, 1], sum: 7, count: 2 },
    });
    expect(toNativePart(next)).toEqual({ native: next.native, before: next.before });

    const meanwhile = { ...next, count: 4, sumSeconds: 20, buckets: [2, 2] };
    expect(toNativePart(meanwhile)).toEqual({ native: emptyNative, before: { counts: [2, 2], sum: 20, count: 4 } });
  });
});
