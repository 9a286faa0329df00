import { describe, expect, it } from 'vitest';
import { minuteMs } from '../support/durations.ts';
import { createStopping } from './hourly.ts';
import type { createScene } from './scene.ts';

/** Ten jobs every minute, ten every five minutes and ten every hour, with four threads. */
function createBusy(options: Parameters<typeof createScene>[0] = {}) {
  const scene = createStopping({ threadPoolSize: 4, ...options });
  scene.control.createProject('pay');
  for (const every of [1, 5, 60]) {
    for (let index = 0; index < 10; index++) {
      const schedule = { everyMs: every * minuteMs, offsetMs: 7000 };
      scene.control.createJob('pay', { name: `every ${every}, ${index}`, schedule });
    }
  }
  const valueOf = (line: string): number => Number(line.slice(line.lastIndexOf(' ') + 1));
  const total = (family: string, part = ''): number =>
    scene
      .shown(family)
      .filter((line) => line.includes(part))
      .reduce((sum, line) => sum + valueOf(line), 0);
  return { ...scene, total };
}

/** The number of scheduled times between 12:30 and this minute. */
const timesUntil = (minute: number): number =>
  10 * (minute - 750 + (Math.floor(minute / 5) - 150) + (Math.floor(minute / 60) - 12));

describe('expected-runs, six hours without an exporter', () => {
  it('finds every run with its delay', { timeout: 60_000 }, async () => {
    const { minutes, away, total, starts } = createBusy();
    await minutes(30);
    const before = total('schedule_delay_seconds', '_count');
    const sumBefore = total('schedule_delay_seconds', '_sum');
    away(360);
    await minutes(15);
    expect(total('schedule_missed_total')).toBe(0);
    expect(total('schedule_undecided_total')).toBe(0);
    // Runs from 12:30 to 18:45 are counted; the last minute is not decided yet.
    const runs = total('schedule_delay_seconds', '_count') - before;
    expect(runs).toBe(timesUntil(1125));
    const delays = starts()
      .filter((atMs) => atMs >= Date.UTC(2026, 0, 15, 12, 30) && atMs < Date.UTC(2026, 0, 15, 18, 45))
      .map((atMs) => (atMs % minuteMs) - 7000);
    expect(delays.length).toBe(runs);
    expect(Math.max(...delays)).toBeGreaterThan(10_000);
    const sumMs = delays.reduce((sum, delay) => sum + delay, 0);
    expect(total('schedule_delay_seconds', '_sum') - sumBefore).toBeCloseTo(sumMs / 1000, 3);
  });

  it('counts runs that a passive server did not start during the absence', { timeout: 60_000 }, async () => {
    const { control, minutes, away, total } = createBusy();
    await minutes(30);
    away(120);
    control.setExecutionMode('passive');
    away(120);
    control.setExecutionMode('active');
    away(120);
    await minutes(30);
    expect(total('schedule_missed_total', 'reason="unknown"')).toBe(timesUntil(990) - timesUntil(870));
    expect(total('schedule_missed_total')).toBe(timesUntil(990) - timesUntil(870));
    expect(total('schedule_undecided_total')).toBe(0);
  });

  it('counts times before the catch-up limit as undecided', { timeout: 60_000 }, async () => {
    const { minutes, away, total, skipped, nowMs } = createBusy({ catchUpLimitMs: 120 * minuteMs });
    await minutes(30);
    const before = total('schedule_delay_seconds', '_count');
    away(360);
    await minutes(15);
    expect(total('schedule_missed_total')).toBe(0);
    const runs = total('schedule_delay_seconds', '_count') - before;
    const undecided = total('schedule_undecided_total');
    expect(runs + undecided).toBe(timesUntil(1125));
    // The undecided times are those before 16:32. The exporter is back at 18:31, and at 18:32 all times up to then are known.
    expect(undecided).toBe(timesUntil(992));
    // A job keeps only its newest decisions.
    expect((await skipped(nowMs() - 7 * 60 * minuteMs)).undecided).toBe(undecided);
  });
});

/** One job that was watched for half an hour before the absence. */
function createOne(schedule: Schedule, options: Parameters<typeof createScene>[0] = {}) {
  const scene = createStopping({ apiVersion: 58, ...options });
  scene.control.createProject('pay');
  const id = scene.control.createJob('pay', { name: 'settle', schedule });
  const valueOf = (family: string, part = ''): number =>
    scene
      .shown(family)
      .filter((line) => line.includes(part))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  const ends = () => ({
    ran: valueOf('schedule_delay_seconds', '_count'),
    missed: valueOf('schedule_missed_total'),
    undecided: valueOf('schedule_undecided_total'),
  });
  const pasts = () => scene.requests().filter(({ query }) => query.includes('past=true'));
  return { ...scene, id, ends, pasts };
}

type Schedule = NonNullable<Parameters<ReturnType<typeof createScene>['control']['createJob']>[1]>['schedule'] & object;

describe('expected-runs, an absence longer than the known times', () => {
  const everyMinute = { everyMs: minuteMs, offsetMs: 7000 };

  it('requests no past times at a first contact', async () => {
    const { minutes, pasts, ends } = createOne(everyMinute);
    await minutes(60);
    expect(pasts()).toEqual([]);
    expect(ends()).toMatchObject({ missed: 0, undecided: 0 });
  });

  it('finds every run during an absence', { timeout: 60_000 }, async () => {
    const { control, minutes, away, ends, pasts, requests } = createOne(everyMinute);
    await minutes(30);
    const { ran } = ends();
    away(16 * 60);
    control.setExecutionMode('passive');
    away(4 * 60);
    control.setExecutionMode('active');
    await minutes(30);
    const after = ends();
    expect(after).toMatchObject({ missed: 240, undecided: 0 });
    // The job ran for 20 hours and 29 minutes; the last minute is not decided yet.
    expect(after.ran - ran).toBe(20 * 60 + 30 - 240);
    expect(pasts().length).toBeLessThanOrEqual(3);
    expect(Math.max(...requests().map(({ listed = 0 }) => listed))).toBeLessThanOrEqual(3660);
  });

  it.each([
    ['tells no edits', { apiVersion: 47 }, everyMinute, 0],
    ['would have to list 72,000 times', {}, { everyMs: 1000, offsetMs: 0 }, 0],
  ])(
    'counts the times of the absence as undecided if the server %s',
    { timeout: 60_000 },
    async (_why, options, schedule, asked) => {
      const { control, minutes, away, ends, pasts, jobs } = createOne(schedule, options);
      control.setExecutionMode('passive');
      await minutes(30);
      const before = ends();
      const knownMs = jobs()[0]?.timetable?.untilMs ?? 0;
      away(20 * 60);
      const gapMs = Date.UTC(2026, 0, 16, 8, 31) - knownMs;
      await minutes(30);
      const after = ends();
      expect(pasts()).toHaveLength(asked);
      expect(after.undecided - before.undecided).toBeCloseTo(gapMs / schedule.everyMs, -1);
      // The total: half an hour before, the known times, and half an hour after.
      const all = after.undecided + after.missed - before.undecided - before.missed;
      expect(all).toBeGreaterThan((20.3 * 3_600_000) / schedule.everyMs);
      expect(jobs()[0]?.verdicts.some((verdict) => verdict.is === 'undecided')).toBe(false);
    },
  );

  it('does not use a schedule that was edited during the absence', { timeout: 60_000 }, async () => {
    const { control, minutes, away, ends, pasts, id } = createOne(everyMinute);
    await minutes(30);
    away(16 * 60);
    control.changeJob(id, { schedule: { everyMs: 5 * minuteMs, offsetMs: 0 } });
    away(4 * 60);
    await minutes(30);
    expect(ends().missed).toBe(0);
    expect(ends().undecided).toBeGreaterThan(600);
    expect(pasts()).toEqual([]);
  });

  it('counts the times of an absence as unsure on an older server, although the schedule was not edited', {
    timeout: 60_000,
  }, async () => {
    const { control, minutes, away, jobs } = createOne({ cron: '0 0,7,20 * * * *', zone: 'UTC' }, { apiVersion: 18 });
    await minutes(30);
    control.setExecutionMode('passive');
    away(180);
    await minutes(30);
    const whys = jobs().flatMap(({ verdicts }) =>
      verdicts.flatMap((verdict) => ('why' in verdict ? [verdict.why] : [])),
    );
    expect(new Set(whys)).toEqual(new Set(['unsure']));
  });

  it.each([0, 30])('names the member that is gone after an absence of %d minutes', async (awayMinutes) => {
    const { control, minutes, away, jobs } = createOne(everyMinute, { members: 2 });
    control.createJob('pay', { name: 'of the other', schedule: everyMinute });
    await minutes(20);
    control.loseMember(1, { isTakenOver: false });
    away(awayMinutes);
    await minutes(15);
    const lasts = jobs().map(({ verdicts }) => verdicts.at(-1));
    expect(lasts).toContainEqual(expect.objectContaining({ is: 'missed', reason: 'orphaned' }));
    expect(lasts).toContainEqual(expect.objectContaining({ is: 'ran' }));
  });

  it.each([18, 31])(
    'reports no missed run of the absence from the responses of API %d',
    { timeout: 60_000 },
    async (apiVersion) => {
      const { minutes, away, ends, pasts } = createOne(everyMinute, { apiVersion });
      await minutes(30);
      const { ran } = ends();
      away(20 * 60);
      await minutes(30);
      const after = ends();
      expect({ missed: after.missed, pasts: pasts() }).toEqual({ missed: 0, pasts: [] });
      // Older servers report only the next time.
      const isCounted = apiVersion >= 31;
      expect(after.ran - ran + after.undecided > 20 * 60).toBe(isCounted);
    },
  );

  it.each([
    ['spring', '2026-03-28T12:00:00Z', 4],
    ['autumn', '2026-10-24T12:00:00Z', 6],
  ])(
    'finds every missed run of a night in which clocks change in %s',
    { timeout: 60_000 },
    async (_name, iso, missed) => {
      const { control, minutes, away, ends, nowMs } = createOne({ cron: '*/30 1-3 * * *', zone: 'Europe/Berlin' });
      away((Date.parse(iso) - nowMs()) / minuteMs);
      await minutes(30);
      control.setExecutionMode('passive');
      away(20 * 60);
      control.setExecutionMode('active');
      await minutes(30);
      // All runs of a night are missed, even at skipped or repeated times.
      expect(ends()).toEqual({ ran: 0, missed, undecided: 0 });
    },
  );

  it('names a restart as the cause of the runs missed in the last hours of the absence', {
    timeout: 60_000,
  }, async () => {
    const { control, minutes, away, ends, shown } = createOne(everyMinute);
    await minutes(30);
    away(16 * 60);
    control.restart({ downForMs: 240 * minuteMs });
    // A simulated server would start runs while it is unreachable, so it is passive.
    control.setExecutionMode('passive');
    away(4 * 60);
    control.setExecutionMode('active');
    await minutes(30);
    const restarts = shown('schedule_missed_total').filter((line) => line.includes('reason="restart"'));
    expect(restarts).toHaveLength(1);
    expect(ends().undecided).toBe(0);
    expect(ends().missed).toBe(Number(restarts[0]?.split(' ').at(-1)));
    expect(Math.abs(ends().missed - 240)).toBeLessThanOrEqual(1);
  });

  it('counts the times of the absence as undecided if the server fails to list them', { timeout: 60_000 }, async () => {
    const { control, minutes, away, ends, pasts } = createOne(everyMinute);
    await minutes(30);
    const { ran } = ends();
    away(20 * 60);
    control.addFault({ kind: 'status', status: 500, path: 'forecast' });
    await minutes(10);
    control.clearFaults();
    await minutes(60);
    const after = ends();
    expect(after.missed).toBe(0);
    expect(pasts().length).toBeLessThanOrEqual(2);
    expect(after.undecided).toBeGreaterThan(600);
    expect(Math.abs(after.ran - ran + after.undecided - (21 * 60 + 10))).toBeLessThanOrEqual(20);
  });
});

describe('expected-runs, more schedules than there is time to request', () => {
  it('counts each time of 70 jobs once', async () => {
    const { control, minutes, jobs, schedule, nowMs } = createStopping({ takesTime: true });
    control.createProject('pay');
    for (let second = 0; second < 70; second++) {
      const schedule = { everyMs: minuteMs, offsetMs: (second % 60) * 1000 };
      control.createJob('pay', { name: `${second}`, schedule });
    }
    await minutes(5);
    control.setExecutionMode('passive');
    await minutes(10);
    control.setExecutionMode('active');
    await minutes(15);
    const timesUntil = (job: { readonly name: string }, ms: number) =>
      Math.floor((ms - (Number(job.name) % 60) * 1000) / minuteMs);
    const wanted = jobs().map((job) => timesUntil(job, nowMs()) - timesUntil(job, job.sinceMs - 1));
    const counted = (await schedule()).hours.flatMap(({ known }) =>
      known === undefined ? [] : [known.ran, known.late, known.undecided, ...Object.values(known.missed)],
    );
    const sum = (all: readonly number[]): number => all.reduce((total, each) => total + each, 0);
    expect(sum(counted)).toBe(sum(wanted));
  });
});
