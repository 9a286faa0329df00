import { describe, expect, it } from 'vitest';
import { checkInterval, findNextMs, toCronExpression } from '../../src/domain/interval.ts';

describe('schedule/interval', () => {
  it.each([
    { every: '1 s', everyMs: 1000, offset: 0, cron: '* * * * * *' },
    { every: '15 s', everyMs: 15_000, offset: 0, cron: '0,15,30,45 * * * * *' },
    { every: '15 s, shifted', everyMs: 15_000, offset: 17, cron: '2,17,32,47 * * * * *' },
    { every: '30 s, shifted', everyMs: 30_000, offset: 7, cron: '7,37 * * * * *' },
    { every: '1 min', everyMs: 60_000, offset: 5, cron: '5 * * * * *' },
    { every: '20 min, shifted', everyMs: 1_200_000, offset: 130, cron: '10 2,22,42 * * * *' },
    { every: '1 h', everyMs: 3_600_000, offset: 61, cron: '1 1 * * * *' },
    { every: '6 h', everyMs: 21_600_000, offset: 3661, cron: '1 1 1,7,13,19 * * *' },
    { every: '1 d', everyMs: 86_400_000, offset: 3, cron: '3 0 0 * * *' },
    { every: '1 d, shifted to the last hour', everyMs: 86_400_000, offset: 82_861, cron: '1 1 23 * * *' },
  ])('fires every $every', ({ everyMs, offset, cron }) => {
    expect(toCronExpression(everyMs, offset)).toBe(cron);
    expect(checkInterval(everyMs)).toBeUndefined();
  });

  it.each([
    { everyMs: 45_000, nearest: '30s, 1m' },
    { everyMs: 40_000, nearest: '30s, 1m' },
    { everyMs: 90_000, nearest: '1m, 2m' },
    { everyMs: 500, nearest: '1s' },
    { everyMs: 5 * 3_600_000, nearest: '4h, 6h' },
    { everyMs: 2 * 86_400_000, nearest: '1d' },
  ])('refuses $everyMs ms and names the nearest', ({ everyMs, nearest }) => {
    expect(checkInterval(everyMs)).toBe(`polls cannot be spaced evenly at this interval; nearest possible: ${nearest}`);
  });

  it.each([
    { hour: [0, 12], minute: [30], second: [5, 35], after: '10:00:00.000Z', next: '2024-05-20T12:30:05.000Z' },
    { hour: [0, 12], minute: [30], second: [5, 35], after: '12:30:04.999Z', next: '2024-05-20T12:30:05.000Z' },
    { hour: [0, 12], minute: [30], second: [5, 35], after: '12:30:05.000Z', next: '2024-05-20T12:30:35.000Z' },
    { hour: [0, 12], minute: [30], second: [5, 35], after: '12:30:35.001Z', next: '2024-05-21T00:30:05.000Z' },
    { hour: [0], minute: [0], second: [0], after: '00:00:00.000Z', next: '2024-05-21T00:00:00.000Z' },
  ])('finds the time after $after', ({ after, next, ...times }) => {
    expect(new Date(findNextMs(times, Date.parse(`2024-05-20T${after}`))).toISOString()).toBe(next);
  });
});
