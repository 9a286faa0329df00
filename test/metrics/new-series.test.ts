import { describe, expect, it } from 'vitest';
import { createNewSeriesHold } from '../../src/metrics/new-series.ts';

describe('metrics/new-series', () => {
  it('shows a value after its series was 0 for long enough', () => {
    const hold = createNewSeriesHold(60_000);
    hold.noteShown(['a'], 0);
    hold.noteShown(['a', 'b'], 30_000);
    expect(hold.due(59_999)).toEqual([]);
    expect(hold.due(60_000)).toEqual(['a']);
    // A value stays due until it is noted as shown.
    expect(hold.due(90_000)).toEqual(['a', 'b']);
    hold.noteShown(['b'], 90_000);
    expect(hold.due(90_000)).toEqual(['b']);
  });

  it('shows a series as 0 again if the series was hidden in between', () => {
    const hold = createNewSeriesHold(60_000);
    hold.noteShown(['a'], 0);
    hold.noteShown([], 50_000);
    hold.noteShown(['a'], 60_000);
    expect(hold.due(119_999)).toEqual([]);
    expect(hold.due(120_000)).toEqual(['a']);
  });
});
