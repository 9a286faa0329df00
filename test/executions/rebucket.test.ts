import { describe, expect, it } from 'vitest';
import type { Cell } from '../../src/executions/counting/totals.ts';
import { rebucket } from '../../src/executions/ledger/upkeep.ts';

const facts = { epoch: 1, epochStartedAtMs: 0 };
const labels = ['pay', 'nightly', 'settle', 'succeeded'];
const durations: Cell = { kind: 'durations', labels, count: 7, sumSeconds: 70, buckets: [1, 4, 2], isReleased: true };
const runs: Cell = { kind: 'runs', labels, count: 7, isReleased: true };

describe('executions/rebucket', () => {
  it('changes nothing while the bounds stay', () => {
    expect(rebucket([durations, runs], { ...facts, buckets: [1, 10] }, [1, 10])).toBeUndefined();
  });

  it('keeps counts and sums under other bounds, and begins all buckets but the open one at 0', () => {
    expect(rebucket([durations, runs], { ...facts, buckets: [1, 10] }, [5, 60, 600])).toEqual({
      facts: { ...facts, buckets: [5, 60, 600] },
      cells: [{ ...durations, buckets: [0, 0, 0, 7] }],
    });
  });

  it('sees other bounds of the same number', () => {
    expect(rebucket([durations], { ...facts, buckets: [1, 10] }, [1, 20])?.cells).toEqual([
      { ...durations, buckets: [0, 0, 7] },
    ]);
  });

  it('notes the bounds of what was counted before they were kept, where they fit', () => {
    expect(rebucket([durations], facts, [1, 10])).toEqual({ facts: { ...facts, buckets: [1, 10] }, cells: [] });
    expect(rebucket([durations], facts, [1])?.cells).toEqual([{ ...durations, buckets: [0, 7] }]);
  });
});
