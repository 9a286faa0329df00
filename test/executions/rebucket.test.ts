import { describe, expect, it } from 'vitest';
import type { Cell } from '../../src/executions/counting/totals.ts';
import { rebucket } from '../../src/executions/ledger/upkeep.ts';

const facts = { epoch: 1, epochStartedAtMs: 0 };
const labels = ['pay', 'nightly', 'settle', 'succeeded'];
const durations: Cell = { kind: 'durations', labels, count: 7, sumSeconds: 70, buckets: [1, 4, 2], isReleased: true };
const runs: Cell = { kind: 'runs', labels, count: 7, isReleased: true };

describe('executions/rebucket', () => {
  it('changes nothing if the bounds are the same', () => {
    expect(rebucket([durations, runs], { ...facts, buckets: [1, 10] }, [1, 10])).toBeUndefined();
  });

  it('keeps counts and sums with other bounds, and resets all buckets except the last to 0', () => {
    expect(rebucket([durations, runs], { ...facts, buckets: [1, 10] }, [5, 60, 600])).toEqual({
      facts: { ...facts, buckets: [5, 60, 600] },
      cells: [{ ...durations, buckets: [0, 0, 0, 7] }],
    });
  });

  it('notices other bounds of the same number', () => {
    expect(rebucket([durations], { ...facts, buckets: [1, 10] }, [1, 20])?.cells).toEqual([
      { ...durations, buckets: [0, 0, 7] },
    ]);
  });

  it('stores the bounds of older counts without bounds, if their number fits', () => {
    expect(rebucket([durations], facts, [1, 10])).toEqual({ facts: { ...facts, buckets: [1, 10] }, cells: [] });
    expect(rebucket([durations], facts, [1])?.cells).toEqual([{ ...durations, buckets: [0, 7] }]);
  });
});
