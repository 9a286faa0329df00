import { describe, expect, it } from 'vitest';
import { createHourly, createStopping, hour } from './hourly.ts';

const job = 'project="pay",job_group="nightly",job_name="settle"';

describe('expected-runs', () => {
  it('counts a run on schedule with its delay', async () => {
    const { minutes, shown, jobs, validForMs } = createHourly();
    await minutes(2);
    expect(validForMs()).toBe(180_000);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([
      `automation_job_next_run_timestamp_seconds{${job}} ${Date.UTC(2026, 0, 15, 13) / 1000}`,
    ]);
    expect(shown('schedule_missed_total')).toEqual([`automation_schedule_missed_total{${job},reason="unknown"} 0`]);
    await minutes(65);
    expect(shown('schedule_delay_seconds').filter((line) => line.includes('_count'))).toEqual([
      'automation_schedule_delay_seconds_count{project="pay"} 1',
    ]);
    expect(shown('schedule_missed_total')).toEqual([`automation_schedule_missed_total{${job},reason="unknown"} 0`]);
    expect(jobs()[0]?.nodes).toEqual({ node01: 5 });
  });

  it('shows which jobs are critical', async () => {
    const { control, minutes, shown } = createHourly();
    control.createJob('pay', { name: 'critical', schedule: hour });
    await minutes(2);
    expect(shown('schedule_critical')).toEqual([
      'automation_schedule_critical{project="pay",job_group="",job_name="critical"} 1',
    ]);
  });

  it('counts the runs that a passive server did not start', async () => {
    const { control, minutes, shown } = createHourly();
    await minutes(30);
    control.setExecutionMode('passive');
    await minutes(150);
    control.setExecutionMode('active');
    await minutes(60);
    expect(shown('schedule_missed_total')).toEqual([
      `automation_schedule_missed_total{${job},reason="unknown"} 0`,
      `automation_schedule_missed_total{${job},reason="passive"} 3`,
    ]);
    expect(shown('job_last_missed_timestamp_seconds')).toEqual([
      `automation_job_last_missed_timestamp_seconds{${job}} ${Date.UTC(2026, 0, 15, 15) / 1000}`,
    ]);
  });

  it('finds the cause of a missed run although executions cannot be read for hours', async () => {
    const { control, minutes, shown } = createHourly();
    await minutes(30);
    control.addFault({ kind: 'status', status: 500, path: '/executions$' });
    control.setExecutionMode('passive');
    await minutes(60);
    control.setExecutionMode('active');
    await minutes(120);
    control.clearFaults();
    await minutes(20);
    expect(shown('schedule_missed_total')).toContain(`automation_schedule_missed_total{${job},reason="passive"} 1`);
  });

  it('keeps the decisions of the last hours and the future times across a restart', async () => {
    const { control, minutes, away, schedule } = createHourly();
    await minutes(70);
    control.setExecutionMode('passive');
    await minutes(60);
    control.setExecutionMode('active');
    away(1);
    await minutes(20);
    const { hours, openCount, ahead } = await schedule();
    const nothing = { late: 0, off: 0, undecided: 0 };
    expect(hours.flatMap(({ known }) => known ?? [])).toEqual([
      { ...nothing, startMs: Date.UTC(2026, 0, 15, 13), ran: 1, missed: {} },
      { ...nothing, startMs: Date.UTC(2026, 0, 15, 14), ran: 0, missed: { passive: 1 } },
    ]);
    expect(openCount).toBe(0);
    expect(ahead?.hours.slice(0, 3).map(({ starts }) => starts)).toEqual([0, 1, 1]);
  });

  it('decides open times after a restart, although an excluded job ran last', async () => {
    const { control, minutes, shown, away } = createHourly();
    const often = { everyMs: 300_000, offsetMs: 0 };
    control.createJob('pay', { name: 'unwanted', group: '', schedule: often });
    await minutes(110);
    control.setExecutionMode('passive');
    await minutes(12);
    control.setExecutionMode('active');
    away(1);
    await minutes(30);
    expect(shown('schedule_missed_total').filter((line) => line.includes('passive'))).toEqual([
      `automation_schedule_missed_total{${job},reason="passive"} 1`,
    ]);
  });

  it('finds the runs during its own absence', async () => {
    const { minutes, shown, away } = createHourly();
    await minutes(30);
    away(360);
    await minutes(90);
    expect(shown('schedule_missed_total')).toEqual([`automation_schedule_missed_total{${job},reason="unknown"} 0`]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 0']);
    expect(shown('schedule_delay_seconds').filter((line) => line.includes('_count'))).toEqual([
      'automation_schedule_delay_seconds_count{project="pay"} 8',
    ]);
  });

  it.each([
    ['', 0],
    [', although they could not be written at first', 2],
  ])('counts the times while the schedule watch is switched off as undecided%s', async (_what, failing) => {
    let commits = Number.NEGATIVE_INFINITY;
    const { minutes, shown, restart } = createHourly({
      onCommit: () => {
        commits += 1;
        if (commits === failing) throw new Error('the disk is full');
      },
      around: (read) => read().catch(() => undefined),
    });
    await minutes(50);
    restart(false);
    await minutes(120);
    restart(true);
    commits = 0;
    await minutes(20);
    restart(true);
    await minutes(70);
    expect(shown('schedule_missed_total')).toEqual([`automation_schedule_missed_total{${job},reason="unknown"} 0`]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 2']);
    expect(shown('schedule_delay_seconds').filter((line) => line.includes('_count'))).toEqual([
      'automation_schedule_delay_seconds_count{project="pay"} 2',
    ]);
  });

  it('finds no missed run after a crash', async () => {
    let isDue = true;
    const { control, minutes, shown, restart } = createHourly({ around: async (read) => (isDue ? read() : undefined) });
    control.createJob('pay', { name: 'half', group: '', schedule: { everyMs: 3_600_000, offsetMs: 1_800_000 } });
    await minutes(50);
    restart(false);
    await minutes(120);
    restart(true);
    isDue = false;
    await minutes(20);
    restart(true);
    isDue = true;
    await minutes(80);
    expect(shown('schedule_missed_total').filter((line) => !line.endsWith(' 0'))).toEqual([]);
  });

  it('expects no run of a disabled job', async () => {
    const { control, minutes, shown, id } = createHourly();
    await minutes(30);
    control.changeJob(id, { scheduleEnabled: false });
    await minutes(120);
    expect(shown('schedule_missed_total')).toEqual([`automation_schedule_missed_total{${job},reason="unknown"} 0`]);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([]);
    expect(shown('job_disabled_since_timestamp_seconds')).toEqual([
      `automation_job_disabled_since_timestamp_seconds{${job},what="schedule"} ${Date.UTC(2026, 0, 15, 12, 31) / 1000}`,
    ]);
  });

  it('counts no missed run of a job that was switched off during an absence', async () => {
    const { control, minutes, shown, away, id } = createHourly();
    await minutes(30);
    away(60);
    control.changeJob(id, { scheduleEnabled: false });
    away(300);
    await minutes(60);
    expect(shown('schedule_missed_total')).toEqual([`automation_schedule_missed_total{${job},reason="unknown"} 0`]);
    // The times from 14:00 to 18:00.
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 5']);
    expect(shown('schedule_delay_seconds').filter((line) => line.includes('_count'))).toEqual([
      'automation_schedule_delay_seconds_count{project="pay"} 1',
    ]);
  });

  it('counts no missed run if the schedule was moved on an older server', async () => {
    const { control, minutes, shown, id } = createHourly();
    await minutes(30);
    control.changeJob(id, { schedule: { everyMs: 3_600_000, offsetMs: 1_500_000 } });
    await minutes(180);
    expect(shown('schedule_missed_total')).toEqual([`automation_schedule_missed_total{${job},reason="unknown"} 0`]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 1']);
  });

  it('requests an edited schedule as soon as the server responds again', async () => {
    const { control, minutes, shown, id } = createHourly({
      apiVersion: 58,
      around: (read) => read().catch(() => undefined),
    });
    await minutes(30);
    control.addFault({ kind: 'status', status: 200, body: '<html>', path: `${id}/(info|forecast)` });
    control.changeJob(id, { schedule: { everyMs: 3_600_000, offsetMs: 1_500_000 } });
    await minutes(2);
    control.clearFaults();
    await minutes(2);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([
      `automation_job_next_run_timestamp_seconds{${job}} ${Date.UTC(2026, 0, 15, 13, 25) / 1000}`,
    ]);
  });

  it('reports a project that is switched off as the cause', async () => {
    const { control, minutes, shown } = createHourly();
    await minutes(30);
    control.changeProject('pay', { scheduleEnabled: false });
    await minutes(60);
    control.changeProject('pay', { scheduleEnabled: true });
    await minutes(60);
    expect(shown('schedule_missed_total')).toEqual([
      `automation_schedule_missed_total{${job},reason="unknown"} 0`,
      `automation_schedule_missed_total{${job},reason="schedule_disabled"} 1`,
    ]);
  });

  it('counts no missed run if a schedule was moved while its project was disabled', async () => {
    const { control, minutes, shown, id } = createHourly();
    await minutes(30);
    control.changeProject('pay', { scheduleEnabled: false });
    await minutes(15);
    control.changeJob(id, { schedule: { everyMs: 3_600_000, offsetMs: 1_500_000 } });
    await minutes(20);
    control.changeProject('pay', { scheduleEnabled: true });
    await minutes(60);
    expect(shown('schedule_missed_total')).toEqual([`automation_schedule_missed_total{${job},reason="unknown"} 0`]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 1']);
  });

  it('counts a missed run once, even if the server recorded it too', async () => {
    const { control, minutes, shown, id } = createHourly();
    await minutes(30);
    control.setExecutionMode('passive');
    await minutes(40);
    control.setExecutionMode('active');
    const callMissed = (hours: number, mins: number): void => {
      const startedAtMs = Date.UTC(2026, 0, 15, hours, mins);
      const run = { jobId: id, startedAtMs, endedAtMs: startedAtMs + 60_000, type: null, status: 'missed' };
      control.addFinished('pay', { ...run, visibleAtMs: Date.UTC(2026, 0, 15, 13, 10) });
    };
    callMissed(13, 0);
    callMissed(12, 40);
    await minutes(60);
    expect(shown('schedule_missed_total')).toEqual([
      `automation_schedule_missed_total{${job},reason="unknown"} 0`,
      `automation_schedule_missed_total{${job},reason="passive"} 1`,
    ]);
  });

  it('expects no scheduled run at the time of a one-time run', async () => {
    const { control, minutes, shown, id } = createHourly({ apiVersion: 58 });
    control.changeJob(id, { multiple: true });
    await minutes(10);
    control.runJob(id, { type: 'user-scheduled', atMs: Date.UTC(2026, 0, 15, 12, 40) });
    control.runJob(id, { type: 'user-scheduled', atMs: Date.UTC(2026, 0, 15, 14, 20) });
    await minutes(180);
    expect(shown('schedule_missed_total')).toEqual([`automation_schedule_missed_total{${job},reason="unknown"} 0`]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 0']);
    expect(shown('schedule_delay_seconds').filter((line) => line.includes('_count'))).toEqual([
      'automation_schedule_delay_seconds_count{project="pay"} 3',
    ]);
  });

  it('finds the runs of a job that starts every ten seconds', async () => {
    const scene = createStopping({});
    const { control, minutes, shown } = scene;
    control.createProject('pay');
    control.createJob('pay', { name: 'settle', group: 'nightly', schedule: { everyMs: 10_000, offsetMs: 2000 } });
    await minutes(30);
    control.setExecutionMode('passive');
    await minutes(5);
    control.setExecutionMode('active');
    await minutes(30);
    expect(shown('schedule_missed_total')).toEqual([
      `automation_schedule_missed_total{${job},reason="unknown"} 0`,
      // The times of the first minute count too.
      `automation_schedule_missed_total{${job},reason="passive"} 30`,
    ]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 0']);
    expect(shown('schedule_delay_seconds').filter((line) => line.includes('_count'))).toEqual([
      // The runs from the first minute to the last start.
      `automation_schedule_delay_seconds_count{project="pay"} ${(29 + 30) * 6}`,
    ]);
  });

  it('follows a job that starts once a month', { timeout: 60_000 }, async () => {
    const { control, polls, minutes, shown, requests, id } = createHourly();
    control.changeJob(id, { schedule: { cron: '0 3 1 * *', zone: 'Europe/Berlin' } });
    await minutes(2);
    const before = requests().length;
    await polls(100 * 4, 6 * 3_600_000);
    expect(shown('schedule_missed_total')).toEqual([`automation_schedule_missed_total{${job},reason="unknown"} 0`]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 0']);
    expect(shown('schedule_delay_seconds').filter((line) => /le="1.0"|_count/.test(line))).toEqual([
      'automation_schedule_delay_seconds_bucket{project="pay",le="1.0"} 3',
      'automation_schedule_delay_seconds_count{project="pay"} 3',
    ]);
    expect(shown('job_next_run_timestamp_seconds')).toEqual([
      `automation_job_next_run_timestamp_seconds{${job}} ${Date.UTC(2026, 4, 1, 1) / 1000}`,
    ]);
    const asked = requests()
      .slice(before)
      .filter(({ path }) => path.endsWith('forecast'));
    // The schedules are requested every six hours at most.
    expect(asked.length).toBeLessThanOrEqual(100 * 4);
  });

  it('works with a server that reports only the next run', async () => {
    const { control, minutes, shown } = createHourly({ apiVersion: 30 });
    await minutes(150);
    control.setExecutionMode('passive');
    await minutes(60);
    control.setExecutionMode('active');
    await minutes(90);
    expect(shown('schedule_missed_total')).toEqual([
      `automation_schedule_missed_total{${job},reason="unknown"} 0`,
      `automation_schedule_missed_total{${job},reason="passive"} 1`,
    ]);
  });

  it.each([
    ['Europe/Berlin', '30 2 * * *', Date.UTC(2026, 2, 27, 12), 2],
    ['Europe/Berlin', '30 2 * * *', Date.UTC(2026, 9, 23, 12), 3],
    ['America/New_York', '30 2 * * *', Date.UTC(2026, 2, 6, 12), 2],
    ['America/New_York', '30 1 * * *', Date.UTC(2026, 9, 30, 12), 3],
    ['America/New_York', '30 2 * * *', Date.UTC(2026, 9, 30, 12), 3],
  ])(
    'finds no missed run and no delay when the clocks of %s change',
    { timeout: 60_000 },
    async (zone, cron, fromMs, runs) => {
      const { control, quickly, shown, away, nowMs, id } = createHourly();
      control.changeJob(id, { schedule: { cron, zone } });
      away((fromMs - nowMs()) / 60_000);
      await quickly(72);
      expect(shown('schedule_missed_total')).toEqual([`automation_schedule_missed_total{${job},reason="unknown"} 0`]);
      expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 0']);
      expect(shown('schedule_delay_seconds').filter((line) => /le="1.0"|_count/.test(line))).toEqual([
        `automation_schedule_delay_seconds_bucket{project="pay",le="1.0"} ${runs}`,
        `automation_schedule_delay_seconds_count{project="pay"} ${runs}`,
      ]);
    },
  );

  it('requests the list once a minute, and each schedule every six hours', { timeout: 60_000 }, async () => {
    const { control, minutes, requests } = createHourly();
    for (let index = 1; index < 400; index++)
      control.createJob('pay', { name: `job ${index}`, schedule: { everyMs: 86_400_000, offsetMs: index * 1000 } });
    await minutes(10);
    const before = requests().length;
    await minutes(60);
    const asked = requests()
      .slice(before)
      .filter(({ path }) => /jobs$|forecast$/.test(path));
    expect(asked.length).toBeLessThanOrEqual(60 + Math.ceil(400 / 6));
  });

  it('decides many jobs in pieces', async () => {
    let commits = 0;
    const { control, minutes, jobs } = createStopping({ ticksPerRead: 1, onCommit: () => void (commits += 1) });
    control.createProject('pay');
    for (let index = 0; index < 100; index++)
      control.createJob('pay', { name: `job ${index}`, schedule: { everyMs: 300_000, offsetMs: index * 1000 } });
    await minutes(12);
    commits = 0;
    await minutes(1);
    expect(commits).toBeGreaterThan(100 / 9);
    // Every job has a decision.
    expect(jobs().filter(({ verdicts }) => verdicts.length === 0)).toEqual([]);
  });
});
