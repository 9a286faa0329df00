import { afterEach, describe, expect, it } from 'vitest';
import {
  setTimeZone,
  toAge,
  toClock,
  toDuration,
  toLength,
  toMoment,
  toTime,
  toTook,
  toWait,
} from '../../src/domain/ages.ts';

const nowMs = Date.parse('2024-05-20T03:19:40.500Z');

describe('domain/ages', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [119_999, '119 s'],
    [120_000, '2 min'],
    [7_199_000, '119 min'],
    [7_200_000, '2 h'],
    [10_739_000, '2 h 58 min'],
    [172_799_000, '1 d 23 h'],
    [172_800_000, '2 d'],
    [190_000_000, '2 d 4 h'],
    [900_000_000, '10 d'],
  ])('formats %i ms as %s, without cutting a long duration', (ms, words) => {
    expect(toDuration(ms)).toBe(words);
  });

  it('formats the time since a moment, and 0 for the future', () => {
    expect(toAge(nowMs - 12_900, nowMs)).toBe('12 s ago');
    expect(toAge(nowMs - 900, nowMs)).toBe('just now');
    expect(toAge(nowMs + 3_600_000, nowMs)).toBe('just now');
  });

  it('formats the time until a moment, and 0 for the past', () => {
    expect(toWait(nowMs + 8200, nowMs)).toBe('in 8 s');
    expect(toWait(nowMs + 10_680_000, nowMs)).toBe('in 2 h 58 min');
    expect(toWait(nowMs - 5000, nowMs)).toBe('now');
  });

  it('formats short durations with more digits', () => {
    expect([23.4, 1340, 9990, 42_000].map(toTook)).toEqual(['23 ms', '1.3 s', '10.0 s', '42 s']);
  });

  it.each([
    [-5, '0 ms'],
    [999.4, '999 ms'],
    [1040, '1 s'],
    [59_999, '59.9 s'],
    [60_000, '1 min'],
    [125_900, '2 min 5 s'],
    [3_600_000, '1 h'],
    [7_325_000, '2 h 2 min'],
    [90_000_000, '1 d 1 h'],
  ])('formats a duration of %d ms as %s', (ms, words) => {
    expect(toLength(ms)).toBe(words);
  });

  it('shows the date of a time only if it differs from the date of today', () => {
    expect(toTime(Date.parse('2024-05-20T00:00:01Z'), nowMs)).toBe('00:00 UTC');
    expect(toTime(Date.parse('2024-05-19T23:59:59Z'), nowMs)).toBe('2024-05-19 23:59 UTC');
  });

  describe('in a time zone', () => {
    afterEach(() => setTimeZone('UTC'));

    it.each([
      ['Europe/Berlin', '2024-05-20T22:30:00Z', '2024-05-21 00:30 CEST', '2024-05-21 00:30:00 CEST'],
      ['Europe/Berlin', '2024-05-19T23:00:00Z', '01:00 CEST', '2024-05-20 01:00:00 CEST'],
      ['Europe/Berlin', '2024-03-31T00:59:59Z', '2024-03-31 01:59 CET', '2024-03-31 01:59:59 CET'],
      ['Europe/Berlin', '2024-03-31T01:00:00Z', '2024-03-31 03:00 CEST', '2024-03-31 03:00:00 CEST'],
      ['America/New_York', '2024-11-03T05:30:00Z', '2024-11-03 01:30 EDT', '2024-11-03 01:30:00 EDT'],
      ['America/New_York', '2024-11-03T06:30:00Z', '2024-11-03 01:30 EST', '2024-11-03 01:30:00 EST'],
      ['Asia/Kolkata', '2024-05-19T18:30:00Z', '00:00 GMT+5:30', '2024-05-20 00:00:00 GMT+5:30'],
    ])('shows %s at %s as %s', (zone, at, time, moment) => {
      setTimeZone(zone);
      expect([toTime(Date.parse(at), nowMs), toMoment(Date.parse(at))]).toEqual([time, moment]);
      expect(toClock(Date.parse(at))).toBe(moment.slice(11, 19));
    });
  });
});
