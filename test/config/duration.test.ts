import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../src/config/values/duration.ts';
import { timeZone } from '../../src/config/values/time-zone.ts';
import { checkValue } from '../../src/config/values/value-type.ts';
import { fc } from '../support/property.ts';

describe('config/duration', () => {
  it.each([
    ['500ms', 500],
    ['15s', 15_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1w', 604_800_000],
    ['1h30m', 5_400_000],
    ['1w2d3h4m5s6ms', 788_645_006],
    ['0s', 0],
    ['90s', 90_000],
  ])('reads %s', (text, durationMs) => {
    expect(parseDuration(text)).toEqual({ value: durationMs });
  });

  it.each([
    ['15', 'has no unit', 'write 15s for seconds, 15m for minutes'],
    ['', 'is not a duration', 'write whole numbers with ms, s, m, h, d or w, for example 15s or 1h30m'],
    ['1.5h', 'is not a duration', 'write whole numbers with ms, s, m, h, d or w, for example 15s or 1h30m'],
    ['-5s', 'is not a duration', 'write whole numbers with ms, s, m, h, d or w, for example 15s or 1h30m'],
    ['15 s', 'is not a duration', 'write whole numbers with ms, s, m, h, d or w, for example 15s or 1h30m'],
    ['1y', 'is not a duration', 'write whole numbers with ms, s, m, h, d or w, for example 15s or 1h30m'],
    ['30m1h', 'is not a duration', 'name each unit once, the largest first, for example 1h30m'],
    ['1h1h', 'is not a duration', 'name each unit once, the largest first, for example 1h30m'],
  ])('refuses %s', (text, problem, hint) => {
    expect(parseDuration(text)).toEqual({ problem, hint });
  });

  it('refuses fractions of a millisecond', () => {
    expect(parseDuration('99999999999999w')).toEqual({ problem: 'is too long' });
  });

  it('writes the largest units first', () => {
    expect([0, 1, 90_000, 5_400_000, 788_645_006].map(formatDuration)).toEqual([
      '0s',
      '1ms',
      '1m30s',
      '1h30m',
      '1w2d3h4m5s6ms',
    ]);
  });

  it('reads every duration that it writes', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (durationMs) => {
        expect(parseDuration(formatDuration(durationMs))).toEqual({ value: durationMs });
      }),
    );
  });
});

describe('config/time-zone', () => {
  it.each([
    ['Europe/Berlin', { value: 'Europe/Berlin' }],
    ['europe/berlin', { value: 'Europe/Berlin' }],
    ['Etc/UTC', { value: 'UTC' }],
  ])('reads %j', (text, read) => {
    expect(checkValue(timeZone, text)).toMatchObject(read);
  });

  it('refuses an unknown time zone', () => {
    const read = checkValue(timeZone, 'Berlin');
    expect('problems' in read && read.problems.map(({ message }) => message).join()).toMatch(
      /^is not the name of a time zone /,
    );
  });
});
