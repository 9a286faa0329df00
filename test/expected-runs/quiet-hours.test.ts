import { describe, expect, it } from 'vitest';
import { command, work } from '../../simulator/scenarios/build.ts';
import { minuteMs } from '../support/durations.ts';
import { createStopping } from './hourly.ts';

/** Creates one job with the schedule; the day begins at noon on Thursday, 15 January 2026. */
function createQuiet(cron: string, options: Parameters<typeof createStopping>[0] = {}) {
  const scene = createStopping({ apiVersion: 47, ...options });
  const { control, shown, nowMs } = scene;
  control.createProject('pay', ['web01']);
  const schedule = { cron, zone: 'UTC' };
  const id = control.createJob('pay', { name: 'settle', schedule });
  const valueOf = (family: string, part: string): number =>
    shown(family)
      .filter((line) => line.includes(part))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  return {
    ...scene,
    id,
    /** Polls up to a time, with long pauses while nothing is due. */
    until: async (iso: string, apartMs = 5 * minuteMs): Promise<void> => {
      const left = (): number => Date.parse(iso) - nowMs();
      await scene.polls(Math.floor(left() / apartMs), apartMs);
      if (left() > 0) await scene.polls(1, left());
    },
    ends: () => ({
      ran: valueOf('schedule_delay_seconds', '_count'),
      missed: valueOf('schedule_missed_total', 'settle'),
      undecided: valueOf('schedule_undecided_total', 'pay'),
    }),
    nextRun: () => valueOf('job_next_run_timestamp_seconds', 'settle') * 1000,
  };
}

describe('expected-runs, schedules with hours without starts', () => {
  it.each([
    {
      span: 'an afternoon',
      cron: '*/5 8-17 * * 1-5',
      fromIso: '2026-01-15T14:01:00Z',
      toIso: '2026-01-15T19:00:00Z',
      missed: 47,
    },
    { span: 'a night', cron: '0 1-5 * * *', fromIso: '2026-01-16T00:01:00Z', toIso: '2026-01-16T07:00:00Z', missed: 5 },
    {
      span: 'the last hour before a weekend',
      cron: '30 17 * * 1-5',
      fromIso: '2026-01-16T17:00:00Z',
      toIso: '2026-01-16T20:00:00Z',
      missed: 1,
    },
    { span: 'a Sunday', cron: '0 2 * * 0', fromIso: '2026-01-18T01:00:00Z', toIso: '2026-01-18T04:00:00Z', missed: 1 },
    {
      span: 'the first of a month',
      cron: '0 2 1 * *',
      fromIso: '2026-02-01T01:00:00Z',
      toIso: '2026-02-01T04:00:00Z',
      missed: 1,
    },
    {
      span: 'the only day of a year',
      cron: '0 2 31 1 *',
      fromIso: '2026-01-31T01:00:00Z',
      toIso: '2026-01-31T04:00:00Z',
      missed: 1,
    },
    {
      span: 'two months of a quarter',
      cron: '15 9 1,20 1,4,7,10 *',
      fromIso: '2026-01-20T09:00:00Z',
      toIso: '2026-01-20T12:00:00Z',
      missed: 1,
    },
  ])('reports missed runs in $span', { timeout: 60_000 }, async ({ cron, fromIso, toIso, missed }) => {
    const { until, control, minutes, away, nowMs, ends } = createQuiet(cron);
    await minutes(2);
    await until(fromIso, 360 * minuteMs);
    control.setExecutionMode('passive');
    away((Date.parse(toIso) - nowMs()) / minuteMs);
    control.setExecutionMode('active');
    await minutes(15);
    expect(ends()).toMatchObject({ missed, undecided: 0 });
  });

  it.each([
    ['*/5 8-17 * * 1-5', '2026-01-19T12:00:00Z', 20, 71 + 120 + 49],
    ['0 1-5 * * *', '2026-01-17T12:00:00Z', 20, 10],
    ['0 2 * * 0', '2026-01-27T12:00:00Z', 60, 2],
    ['0 2 1 * *', '2026-03-03T12:00:00Z', 240, 2],
  ])('always shows the next run of %s', { timeout: 60_000 }, async (cron, toIso, apart, runs) => {
    const { polls, nowMs, ends, nextRun, minutes } = createQuiet(cron);
    await minutes(2);
    const lost: string[] = [];
    while (nowMs() < Date.parse(toIso)) {
      await polls(1, apart * minuteMs);
      if (!(nextRun() > nowMs())) lost.push(new Date(nowMs()).toISOString());
    }
    expect(lost).toEqual([]);
    expect(ends()).toEqual({ ran: runs, missed: 0, undecided: 0 });
  });

  it.each(['*/5 8-17 * * 1-5', '0 1-5 * * *', '0 7,12,18 * * *'])(
    'finds all runs of the next 12 h of %s',
    { timeout: 60_000 },
    async (cron) => {
      const { minutes, polls, risks } = createQuiet(cron);
      await minutes(40);
      let untimed = 0;
      for (let left = 48; left > 0; left -= 1) {
        await polls(1, 30 * minuteMs);
        untimed += (await risks()).untimed.count;
      }
      expect(untimed).toBe(0);
    },
  );

  it('withdraws the times that an edit may have moved', async () => {
    const { until, control, minutes, ends, id } = createQuiet('0 2 * * *');
    await minutes(2);
    await until('2026-01-16T01:50:00Z', 60 * minuteMs);
    control.changeJob(id, { schedule: { cron: '30 3 * * *', zone: 'UTC' } });
    await until('2026-01-16T05:00:00Z');
    expect(ends()).toEqual({ ran: 1, missed: 0, undecided: 1 });
  });
});

describe('expected-runs, an edited schedule whose next time is weeks away', () => {
  it('shows the next run as soon as the schedule is requested', { timeout: 60_000 }, async () => {
    const { control, minutes, polls, nextRun, id } = createQuiet('0 * * * *');
    await minutes(2);
    control.changeJob(id, { schedule: { cron: '0 2 1 * *', zone: 'UTC' } });
    await polls(26, 15 * minuteMs);
    expect(new Date(nextRun()).toISOString()).toBe('2026-02-01T02:00:00.000Z');
  });
});

describe('expected-runs, servers that report only the next run', () => {
  it.each([
    ['0 * * * *', 8],
    ['*/20 8-17 * * *', 19],
    ['30 13,15,20 * * *', 3],
  ])('count each run of %s', { timeout: 60_000 }, async (cron, least) => {
    const { minutes, until, ends } = createQuiet(cron, { apiVersion: 30 });
    await minutes(9 * 60);
    // Nothing happens in the night.
    if (cron.startsWith('*/20')) await until('2026-01-16T07:55:00Z', 30 * minuteMs).then(() => minutes(50));
    expect(ends()).toMatchObject({ missed: 0, undecided: 0 });
    expect(ends().ran).toBeGreaterThanOrEqual(least);
  });

  it('count a run that starts late', async () => {
    const { control, minutes, ends } = createQuiet('0 * * * *', { apiVersion: 30, threadPoolSize: 1 });
    const long = work(['web01'], [command('sleep 480', 480, 0)]);
    control.createJob('pay', { name: 'longer', schedule: { cron: '58 * * * *', zone: 'UTC' }, work: long });
    await minutes(100);
    expect(ends()).toEqual({ ran: 2, missed: 0, undecided: 0 });
  });

  it('count a missed run', { timeout: 60_000 }, async () => {
    const { control, minutes, ends } = createQuiet('*/20 * * * *', { apiVersion: 30 });
    await minutes(70);
    control.setExecutionMode('passive');
    await minutes(20);
    control.setExecutionMode('active');
    await minutes(40);
    expect(ends()).toEqual({ ran: 5, missed: 1, undecided: 0 });
  });
});
