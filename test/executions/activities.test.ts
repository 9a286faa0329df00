import { describe, expect, it } from 'vitest';
import { createActivities, toOffsetMs } from '../../src/executions/reading/activities.ts';
import { dayMs, hourMs } from '../support/durations.ts';

const midnightMs = Date.UTC(2026, 0, 15);
const clockOf = (ms: number): string => new Date(ms).toISOString().slice(11, 19);

describe('executions/activities', () => {
  it('gives each project its own time of day for recounts', () => {
    expect(['pay', 'stock', 'a', ''].map((name) => clockOf(toOffsetMs(name)))).toEqual([
      '06:46:00',
      '11:48:38',
      '00:01:37',
      '00:00:00',
    ]);
    const names = Array.from({ length: 1000 }, (_, index) => `project ${index}`);
    expect(new Set(names.map(toOffsetMs)).size).toBeGreaterThan(900);
    expect(names.filter((name) => toOffsetMs(name) >= dayMs)).toEqual([]);
  });

  it('compares the last day of a new project within an hour', () => {
    const due = (nowMs: number): string => {
      const activities = createActivities();
      activities.note('pay', {}, nowMs);
      return clockOf(activities.all.get('pay')?.nextDayMs ?? 0);
    };
    expect(due(midnightMs)).toBe('00:46:00');
    expect(due(midnightMs + 10.5 * hourMs)).toBe('10:46:00');
    expect(due(midnightMs + 10.8 * hourMs)).toBe('11:46:00');
  });

  it('treats a new project as idle and never read', () => {
    const activities = createActivities();
    activities.note('', { isDayLong: true }, midnightMs);
    expect(activities.all.get('')).toEqual({
      activeUntilMs: 0,
      readAtMs: 0,
      nextDayMs: midnightMs,
      unshownSinceMs: undefined,
      isDayLong: true,
    });
  });

  it('changes only the given fields', () => {
    const activities = createActivities();
    activities.note('pay', { readAtMs: 7, isDayLong: true }, midnightMs);
    activities.note('pay', { activeUntilMs: 9 }, midnightMs + dayMs);
    expect(activities.all.get('pay')).toEqual({
      activeUntilMs: 9,
      readAtMs: 7,
      nextDayMs: midnightMs + 46 * 60_000,
      unshownSinceMs: undefined,
      isDayLong: true,
    });
    activities.forget('pay');
    expect(activities.all.size).toBe(0);
  });

  it('moves due times when the clock is set back', () => {
    const activities = createActivities();
    const laterMs = midnightMs + 30 * dayMs;
    const ahead = { activeUntilMs: laterMs, readAtMs: laterMs, nextDayMs: laterMs, unshownSinceMs: laterMs };
    activities.note('ahead', ahead, laterMs);
    const before = { activeUntilMs: 1, readAtMs: 2, nextDayMs: 3, unshownSinceMs: undefined };
    activities.note('before', before, midnightMs);
    activities.rewind(midnightMs);
    expect(activities.all.get('ahead')).toEqual({
      activeUntilMs: midnightMs,
      readAtMs: midnightMs,
      nextDayMs: midnightMs + hourMs,
      unshownSinceMs: midnightMs,
      isDayLong: false,
    });
    expect(activities.all.get('before')).toEqual({ ...before, isDayLong: false });
  });

  it('keeps the order of waiting projects when the clock is set back', () => {
    const activities = createActivities();
    const laterMs = midnightMs + 2 * hourMs;
    for (const [project, readAtMs] of Object.entries({ pay: laterMs - 5000, shop: laterMs, hr: laterMs - 500_000 }))
      activities.note(project, { readAtMs }, laterMs);
    activities.rewind(midnightMs);
    expect([...activities.all].map(([project, { readAtMs }]) => [project, readAtMs - midnightMs])).toEqual([
      ['pay', -5000],
      ['shop', 0],
      ['hr', -500_000],
    ]);
  });
});
