import { describe, expect, it } from 'vitest';
import { createQueue } from '../../../simulator/engine/queue.ts';
import { countCronTimes, nextCronTime } from '../../../simulator/engine/schedule.ts';
import { createRandom } from '../../../simulator/random.ts';
import { minuteMs } from '../../support/durations.ts';
import { noon, oneStep, startOneJob } from '../caller.ts';

/** Returns the next times of a schedule in UTC. */
function timesOf(cron: string, zone: string, after: string, count: number): string[] {
  const times: string[] = [];
  let atMs = Date.parse(after);
  for (let left = count; left > 0; left -= 1) {
    atMs = nextCronTime({ cron, zone }, atMs);
    times.push(new Date(atMs).toISOString().slice(0, 16));
  }
  return times;
}

describe('simulator/engine/cron', () => {
  it.each([
    ['every quarter of an hour', '*/15 * * * *', '2026-01-15T12:01:00Z', ['2026-01-15T12:15', '2026-01-15T12:30']],
    ['on weekdays', '0 2 * * 1-5', '2026-01-16T12:00:00Z', ['2026-01-19T02:00', '2026-01-20T02:00']],
    ['on the first of the month', '30 4 1 * *', '2026-01-15T12:00:00Z', ['2026-02-01T04:30', '2026-03-01T04:30']],
    ['on leap days', '0 0 29 2 *', '2026-01-15T12:00:00Z', ['2028-02-29T00:00', '2032-02-29T00:00']],
  ])('returns the times %s', (_name, cron, after, expected) => {
    expect(timesOf(cron, 'UTC', after, 2)).toEqual(expected);
  });

  it('counts the times of a span without listing them', () => {
    const from = Date.parse('2026-01-16T16:30:00Z');
    const count = (cron: string, hours: number): number =>
      countCronTimes({ cron, zone: 'UTC' }, from, from + hours * 3_600_000);
    // From Friday afternoon to Monday evening, there are 17 times on Friday and 120 on Monday.
    expect([count('*/5 8-17 * * 1-5', 80), count('* * 3 * * *', 24), count('0 0 1 1 *', 365 * 24)]).toEqual([
      137, 3600, 1,
    ]);
  });

  it.each([
    ['Europe/Berlin', '2026-03-27T12:00:00Z', ['2026-03-28T01:30', '2026-03-30T00:30', '2026-03-31T00:30']],
    ['America/New_York', '2026-03-06T12:00:00Z', ['2026-03-07T07:30', '2026-03-09T06:30', '2026-03-10T06:30']],
  ])('skips a missing 02:30 in %s', (zone, after, expected) => {
    expect(timesOf('30 2 * * *', zone, after, 3)).toEqual(expected);
  });

  it.each([
    [
      'Europe/Berlin',
      '30 2 * * *',
      '2026-10-23T12:00:00Z',
      ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30'],
    ],
    [
      'America/New_York',
      '30 1 * * *',
      '2026-10-30T12:00:00Z',
      ['2026-10-31T05:30', '2026-11-01T05:30', '2026-11-02T06:30'],
    ],
  ])('lists a repeated local time in %s once', (zone, cron, after, expected) => {
    expect(timesOf(cron, zone, after, 3)).toEqual(expected);
  });
});

describe('simulator/engine/engine', () => {
  it('starts schedules by the clock of their member', async () => {
    const simulator = await startOneJob({});
    const schedule = { everyMs: 15 * minuteMs, offsetMs: 0 };
    simulator.control.createJob('p', { name: 'cron', schedule, work: oneStep() }, 'cron');
    simulator.control.setClockSkew(5 * minuteMs);
    simulator.advance(12 * minuteMs);
    // The clock showed 12:17, and now shows 12:12 again.
    simulator.control.setClockSkew(0);
    simulator.advance(34 * minuteMs);
    // The truth has the true start times.
    const starts = simulator.truth().executions.map(({ startedAtMs }) => (startedAtMs - noon) / minuteMs);
    await simulator.stop();
    expect(starts).toEqual([15, 30, 45]);
  });
});

describe('simulator/engine/queue', () => {
  it('returns items in the order of their times', () => {
    const queue = createQueue<string>();
    for (const [atMs, item] of [
      [5, 'e'],
      [1, 'a'],
      [5, 'f'],
      [3, 'c'],
      [1, 'b'],
      [4, 'd'],
    ] as const) {
      queue.push(atMs, item);
    }
    const items = Array.from({ length: 6 }, () => queue.pop()?.item);
    expect(items.join('')).toBe('abcdef');
    expect(queue.pop()).toBeUndefined();
  });

  it('sorts a thousand random times', () => {
    const queue = createQueue<number>();
    const random = createRandom(3);
    for (let count = 0; count < 1000; count += 1) {
      queue.push(Math.floor(random() * 500), count);
    }
    const times = Array.from({ length: 1000 }, () => queue.pop()?.atMs ?? -1);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(queue.size).toBe(0);
  });
});
