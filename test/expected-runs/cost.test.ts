import { describe, expect, it } from 'vitest';
import { createStopping } from './hourly.ts';

const utc = (cron: string) => ({ cron, zone: 'UTC' });
const every = (seconds: number, fromMs = 0) => ({ everyMs: seconds * 1000, offsetMs: 0, fromMs });

/** All kinds of schedules; the scene begins on a Thursday at noon. */
const kinds = {
  'every second': every(1),
  'every 20 seconds': every(20),
  'every minute': every(60),
  'every second of next year': every(1, Date.UTC(2027, 0, 1)),
  'every second of one hour of the night': utc('* * 3 * * *'),
  'in working hours': utc('*/5 8-17 * * 1-5'),
  hourly: every(3600),
  daily: utc('0 2 * * *'),
  weekly: utc('0 2 * * 0'),
  yearly: utc('0 0 1 1 *'),
};

/** Creates a service that starts no scheduled run, because the test counts only requests. */
function createAsked(
  schedules: Readonly<Record<string, ReturnType<typeof every> | ReturnType<typeof utc>>>,
  each: number,
  options: Parameters<typeof createStopping>[0] = {},
) {
  const scene = createStopping(options);
  const { control, requests } = scene;
  control.setExecutionMode('passive');
  control.createProject('pay');
  for (const [group, schedule] of Object.entries(schedules)) {
    const jobs = group === 'every second' ? each / 55 : each;
    for (let index = 0; index < jobs; index++) control.createJob('pay', { name: `job ${index}`, group, schedule });
  }
  const listed = (): number[] => requests().flatMap((request) => request.listed ?? []);
  const forecasts = () => requests().filter(({ path }) => path.endsWith('forecast'));
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  return { ...scene, listed, forecasts, sum };
}

describe('expected-runs, the cost of requests for a server', () => {
  it('requests few start times at a first contact', async () => {
    const { minutes, listed, sum, shown, requests } = createAsked(kinds, 55);
    await minutes(8);
    expect(shown('job_next_run_timestamp_seconds')).toHaveLength(496);
    // Of an unknown schedule, at most an hour is listed: 11 ms of the server's time.
    expect(Math.max(...listed())).toBeLessThanOrEqual(61 * 60 + 1);
    // In eight minutes, all lists cost less than 2 s of the server's time.
    expect(sum(listed())).toBeLessThan(650_000);
    expect(requests().filter(({ path }) => /info$|forecast$/.test(path)).length).toBeLessThan(2000);
  });

  it('sends few requests about a known schedule', { timeout: 60_000 }, async () => {
    const { yearly, weekly, daily, 'in working hours': working, 'every second of next year': late } = kinds;
    const { minutes, away, listed, sum, requests, control } = createAsked({ yearly, weekly, daily, working, late }, 40);
    control.setExecutionMode('active');
    await minutes(30);
    const asked = () => requests().filter(({ path }) => /info$|forecast$/.test(path)).length;
    const before = [asked(), sum(listed())] as const;
    away(1);
    await minutes(30);
    // Of the 200 jobs, 40 are requested again within half an hour.
    expect(asked() - before[0]).toBeLessThan(80);
    expect(sum(listed()) - before[1]).toBeLessThan(20_000);
  });

  it('confirms missed runs without listing whole days', { timeout: 60_000 }, async () => {
    const { minutes, listed, sum } = createAsked({ 'every minute': kinds['every minute'] }, 1);
    await minutes(180);
    expect(sum(listed())).toBeLessThan(180 * 61);
  });

  it('lists a dense schedule in small spans', { timeout: 60_000 }, async () => {
    const { control, away, minutes, listed, nowMs, jobs } = createAsked({}, 0);
    control.createJob('pay', { name: 'next year', schedule: kinds['every second of next year'] });
    await minutes(2);
    away((Date.UTC(2026, 11, 31, 23, 30) - nowMs()) / 60_000);
    control.createJob('pay', { name: 'night', schedule: kinds['every second of one hour of the night'] });
    await minutes(40);
    expect(Math.max(...listed())).toBeLessThanOrEqual(61 * 60 + 1);
    const known = jobs().find(({ name }) => name === 'next year')?.timetable?.timesMs ?? [];
    expect(known.filter((time) => time > nowMs()).length).toBeGreaterThan(200);
  });

  it.each([
    ['weekly', 2, kinds['every second']],
    ['daily', 2, kinds['every second']],
    ['hourly', 2, kinds['every second']],
    ['in working hours', 2, kinds['every second']],
    // Schedules whose next time does not change during the test.
    ['in working hours', 7 * 60, utc('* * 8-17 * * 1-5')],
    ['in working hours', 13 * 60, utc('* * 8-17 * * 1-5')],
  ] as const)(
    'lists at most an hour of a schedule that was %s for %d minutes',
    { timeout: 60_000 },
    async (name, wasMinutes, schedule) => {
      const { control, minutes, polls, listed } = createAsked({}, 0);
      const id = control.createJob('pay', { name, schedule: kinds[name] });
      await minutes(2);
      await polls(Math.floor(wasMinutes / 60), 60 * 60_000);
      control.changeJob(id, { schedule });
      const most = (): number => Math.max(...listed());
      for (let left = 200; left > 0 && most() < 300; left -= 1) await polls(1, left > 190 ? 60_000 : 3_600_000);
      await polls(2, 60_000);
      // At first, the times of a shorter span are listed.
      expect(most()).toBeGreaterThanOrEqual(300);
      expect(most()).toBeLessThanOrEqual(62 * 60);
    },
  );
});

describe('expected-runs, the time that requests cost a server with 250 scheduled jobs', () => {
  const { 'every minute': minute, 'every 20 seconds': dense, 'every second of next year': late, daily, yearly } = kinds;

  it("uses at most 2 % of the server's time at the first contact", async () => {
    const { minutes, spentMs, requests, jobs, find } = createAsked({ minute, dense, late, daily, yearly }, 50, {
      takesTime: true,
    });
    await minutes(5);
    expect(spentMs() / 300_000).toBeLessThanOrEqual(0.02);
    const unknown = jobs().find(({ timetable }) => timetable === undefined);
    expect(unknown && find(unknown.id)?.why.sentence).toMatch(
      /^The scheduled times of the job are not known yet: \d+ of 250 schedules read so far, about \d+ min left\./,
    );
    await minutes(5);
    expect(jobs().filter(({ timetable }) => timetable === undefined)).toEqual([]);
    await minutes(10);
    expect(spentMs() / 1_200_000).toBeLessThanOrEqual(0.02);
    expect(requests().filter(({ costMs = 0 }) => costMs > 500)).toEqual([]);
  });

  it.each([
    ['250 new jobs are not known yet', 250, kinds.hourly, 24],
    ['60 jobs miss a run each minute', 60, minute, 10],
  ])('decides a missed run within eight minutes, while %s', async (_while, count, schedule, afterMinutes) => {
    const { control, minutes, jobs } = createAsked({ lunch: utc('0 15 12 * * *') }, 1, { takesTime: true });
    await minutes(afterMinutes);
    for (let index = 0; index < count; index++) control.createJob('pay', { name: `${index}`, schedule });
    await minutes(33 - afterMinutes);
    expect(jobs().find(({ group }) => group === 'lunch')?.lastMissedMs).toBeDefined();
  });

  it('uses all of its time for missed runs if nothing else is due', async () => {
    const { minutes, spentMs, requests } = createAsked({ minute }, 250, { takesTime: true });
    await minutes(30);
    const before = [requests().length, spentMs()] as const;
    await minutes(10);
    expect(requests().length - before[0]).toBeGreaterThan(300);
    expect((spentMs() - before[1]) / 600_000).toBeLessThanOrEqual(0.02);
  });

  it('decides most missed runs of 60 jobs although each request waits three seconds', async () => {
    const { minutes, jobs } = createAsked({ minute }, 60, { takesTime: true, queueMs: 3000 });
    await minutes(20);
    expect(jobs().filter(({ lastMissedMs }) => lastMissedMs !== undefined).length).toBeGreaterThan(30);
  });

  it.each([
    ['behind a network of 200 ms', { connectMs: 200, lagMs: () => 200 }],
    ['if most answers wait in a busy exporter', { lagMs: (requests: number) => (requests % 5 === 0 ? 0 : 200) }],
  ])('reads the schedules of 250 jobs about as fast %s', async (...[, lag]) => {
    const learned = async (options: typeof lag | object): Promise<readonly [number, number]> => {
      const { minutes, jobs, spentMs } = createAsked({ daily }, 250, { takesTime: true, ...options });
      await minutes(5);
      return [jobs().filter(({ timetable }) => timetable !== undefined).length, spentMs() / 300_000];
    };
    const [near, far] = [await learned({}), await learned(lag)];
    expect(far[0]).toBeGreaterThan(near[0] * 0.55);
    expect(far[1]).toBeLessThanOrEqual(0.02);
  });

  it('requests schedules immediately after minutes of timeouts have ended', async () => {
    let isBusy = true;
    const { minutes, jobs } = createAsked({ minute }, 60, {
      takesTime: true,
      queueMs: 10_000,
      isRefused: (endpoint) => isBusy && endpoint === 'job-info',
      around: (read) => read().catch(() => undefined),
    });
    await minutes(3);
    isBusy = false;
    await minutes(2);
    expect(jobs().filter(({ timetable }) => timetable !== undefined).length).toBeGreaterThan(0);
  });
});

describe('expected-runs, the time that requests cost a server with ten projects of 400 jobs', () => {
  it("uses at most 0.5 % of the server's time once all schedules are known", async () => {
    const { control, minutes, requests } = createAsked({}, 0, { takesTime: true });
    for (let project = 0; project < 10; project++) {
      control.createProject(`${project}`);
      for (let index = 0; index < 400; index++) control.createJob(`${project}`, { name: `job ${index}` });
    }
    await minutes(2);
    const lists = () => requests().filter(({ path }) => path.endsWith('/jobs'));
    const before = lists().length;
    await minutes(20);
    const spentMs = lists()
      .slice(before)
      .reduce((sum, { costMs = 0 }) => sum + costMs, 0);
    expect(spentMs).toBeGreaterThan(1000);
    expect(spentMs / 1_200_000).toBeLessThanOrEqual(0.0055);
  });
});

describe('expected-runs, a server that cannot list the times of a job', () => {
  it('sends fewer requests after a timeout', { timeout: 60_000 }, async () => {
    const { minutes, polls, away, control, forecasts, outcome, shown } = createAsked(
      { 'every minute': kinds['every minute'] },
      2,
    );
    control.addFault({ kind: 'hang', path: 'forecast' });
    await minutes(5);
    // After the request that hangs, no request about jobs is sent for ten minutes.
    expect(forecasts().map(({ query }) => query)).toEqual(['time=61n&max=500']);
    expect(outcome()).toMatchObject({
      result: 'success',
      note: 'the schedule of pay/every minute/job 0 cannot be read: no answer in time (seen 12:01 UTC)',
    });
    away(1);
    await polls(36, 600_000);
    const [first] = forecasts();
    const ofFirst = forecasts().filter(({ path }) => path === first?.path);
    const asked = ofFirst.map(({ query }) => Number(/time=(\d+)n/.exec(query)?.[1]));
    expect(asked.every((minutes, index) => index === 0 || minutes <= (asked[index - 1] ?? 0) / 3)).toBe(true);
    expect(asked.length).toBeLessThanOrEqual(3);
    // The next run of both jobs is known without the request.
    expect(shown('job_next_run_timestamp_seconds')).toHaveLength(2);
  });

  it('seldom requests the next time of a job whose times are refused', async () => {
    const { minutes, polls, control, requests } = createAsked({ weekly: kinds.weekly }, 1);
    control.addFault({ kind: 'hang', path: 'forecast' });
    await minutes(5);
    await polls(2, 600_000);
    const asked = () => requests().filter(({ path }) => /job\/.*(info|forecast)$/.test(path)).length;
    const before = asked();
    await minutes(120);
    expect(asked() - before).toBeLessThanOrEqual(2);
  });
});
