import { describe, expect, it } from 'vitest';
import { toDurationMs } from '../../src/api/endpoints/executions-metrics.ts';

describe('domain/duration-text', () => {
  it.each([
    // Servers write whole seconds below a minute, whole minutes above it, and never hours.
    ['0s', 0],
    ['37s', 37_000],
    ['83m', 4_980_000],
    ['1439m', 86_340_000],
    // Further forms that servers might write.
    ['450ms', 450],
    ['1.5s', 1500],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['2w', 1_209_600_000],
    ['1h3m', 3_780_000],
    ['1h 3m 20s', 3_800_000],
    ['1d, 2h', 93_600_000],
    ['3m 7s 250ms', 187_250],
    ['5 m', 300_000],
    [' 37s ', 37_000],
  ])('reads %j as %i ms', (text, ms) => {
    expect(toDurationMs(text)).toBe(ms);
  });

  it.each([
    '',
    ' ',
    '37',
    '-5s',
    's',
    '1x',
    '1h foo',
    'PT37S',
    '00:01:03',
    '1e3s',
    'NaNs',
    '1.s',
    '1 1s',
    '3M',
    '9'.repeat(50),
  ])('does not read %j as a duration', (text) => {
    expect(toDurationMs(text)).toBeUndefined();
  });

  it('is fast on any text', () => {
    expect(toDurationMs(`${'1m '.repeat(100_000)}x`)).toBeUndefined();
  });
});
