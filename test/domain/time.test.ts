import { describe, expect, it } from 'vitest';
import { toTimestampMs } from '../../src/domain/time.ts';

describe('domain/time', () => {
  it.each([
    ['2024-05-20T10:13:20Z', 1_716_200_000_000],
    ['2024-05-20T10:13:20.022Z', 1_716_200_000_022],
    ['2024-05-20T12:13:20+02:00', 1_716_200_000_000],
    [{ epoch: 1_716_200_000_000, unit: 'ms', datetime: '2024-05-20T10:13:20Z' }, 1_716_200_000_000],
    [{ epoch: '1716200000000' }, 1_716_200_000_000],
    [{ unixtime: 1_716_200_000_123, date: '2024-05-20T10:13:20Z' }, 1_716_200_000_123],
    [{ epoch: null, datetime: '2024-05-20T10:13:20Z' }, 1_716_200_000_000],
    [1_716_200_000_000, 1_716_200_000_000],
    ['1970-01-01T00:00:00Z', 0],
    ['2200-12-31T23:59:59.999Z', 7_289_654_399_999],
    [{ unixtime: 9e15, date: '2024-05-20T10:13:20Z' }, 1_716_200_000_000],
    [1_716_200_000_000.6, 1_716_200_000_000],
    [{ unixtime: 1_716_200_000_123.75 }, 1_716_200_000_123],
  ])('reads %j', (date, expected) => {
    expect(toTimestampMs(date)).toBe(expected);
  });

  it.each([
    undefined,
    null,
    '',
    'yesterday',
    '2024-05-20',
    '2024-13-45T99:99:99Z',
    '2024-11-31T10:13:20Z',
    {},
    { epoch: {} },
    [],
    true,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    -1,
    9e15,
    7_289_654_400_000,
    '9000000000000000',
    '1969-12-31T23:59:59Z',
    { unixtime: 9e15 },
  ])('finds no date in %j', (date) => {
    expect(toTimestampMs(date)).toBeUndefined();
  });
});
