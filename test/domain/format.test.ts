import { describe, expect, it } from 'vitest';
import { toCount, toSize } from '../../src/domain/format.ts';

describe('domain/format', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1 KiB'],
    [3400, '3.3 KiB'],
    [10_300, '10 KiB'],
    [256 * 2 ** 20, '256 MiB'],
    [2 ** 30 - 1, '1023 MiB'],
    [1.99 * 2 ** 30, '1.9 GiB'],
  ])('formats %d as %s', (bytes, text) => {
    expect(toSize(bytes)).toBe(text);
  });

  it('formats a number with the thing that is counted', () => {
    expect([0, 1, 2, 100_000].map((count) => toCount(count, 'trace'))).toEqual([
      '0 traces',
      '1 trace',
      '2 traces',
      '100,000 traces',
    ]);
  });
});
