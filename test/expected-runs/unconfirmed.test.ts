import { describe, expect, it } from 'vitest';
import { createStopping } from './hourly.ts';
import type { createScene } from './scene.ts';

/** A job that starts at every full hour. It is half past one; at one o'clock, the server was passive and was not watched. */
async function comeBack(options: Parameters<typeof createScene>[0]) {
  const scene = createStopping(options);
  const { control, minutes, away } = scene;
  control.createProject('pay');
  const schedule = { everyMs: 3_600_000, offsetMs: 0 };
  const id = control.createJob('pay', { name: 'settle', group: 'nightly', schedule });
  await minutes(30);
  control.setExecutionMode('passive');
  away(60);
  control.setExecutionMode('active');
  return { ...scene, id };
}

const missed = (reason: string, count: number): string =>
  `automation_schedule_missed_total{project="pay",job_group="nightly",job_name="settle",reason="${reason}"} ${count}`;

describe('expected-runs, a switch turned off before a missed run is confirmed', () => {
  it('decides the missed runs of a disabled project', async () => {
    const { control, minutes, shown } = await comeBack({ apiVersion: 47 });
    control.changeProject('pay', { scheduleEnabled: false });
    await minutes(60);
    expect(shown('schedule_missed_total')).toEqual([missed('unknown', 0), missed('schedule_disabled', 1)]);
    control.changeProject('pay', { scheduleEnabled: true });
    await minutes(10);
    expect(shown('schedule_missed_total')).toEqual([missed('unknown', 1), missed('schedule_disabled', 1)]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 0']);
  });

  it('counts no missed run if the schedule has changed meanwhile', async () => {
    const { control, minutes, shown, id } = await comeBack({ apiVersion: 47 });
    control.changeProject('pay', { scheduleEnabled: false });
    await minutes(60);
    control.changeJob(id, { schedule: { everyMs: 3_600_000, offsetMs: 1_500_000 } });
    control.changeProject('pay', { scheduleEnabled: true });
    await minutes(10);
    expect(shown('schedule_missed_total')).toEqual([missed('unknown', 0), missed('schedule_disabled', 1)]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 1']);
  });

  it('counts no missed run after an unseen edit', async () => {
    const scene = createStopping({ apiVersion: 47 });
    const { control, minutes, shown } = scene;
    control.createProject('pay');
    const hour = { everyMs: 3_600_000, offsetMs: 0 };
    const id = control.createJob('pay', { name: 'settle', group: 'nightly', schedule: hour });
    await minutes(30);
    control.setExecutionMode('passive');
    control.changeJob(id, { schedule: { ...hour, offsetMs: 1_500_000 } });
    await minutes(32);
    control.changeProject('pay', { scheduleEnabled: false });
    await minutes(30);
    expect(shown('schedule_missed_total')).toEqual([missed('unknown', 0)]);
    control.setExecutionMode('active');
    control.changeProject('pay', { scheduleEnabled: true });
    await minutes(10);
    expect(shown('schedule_missed_total')).toEqual([missed('unknown', 0)]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 1']);
  });

  it('does not decide the missed run while the project stays disabled', async () => {
    const { control, minutes, shown } = await comeBack({ apiVersion: 47, catchUpLimitMs: 3 * 3_600_000 });
    control.changeProject('pay', { scheduleEnabled: false });
    await minutes(160);
    expect(shown('schedule_missed_total')[0]).toBe(missed('unknown', 0));
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 1']);
  });

  it('counts the earlier missed run if no schedule was edited', async () => {
    const { control, minutes, shown } = await comeBack({ apiVersion: 58 });
    control.changeProject('pay', { scheduleEnabled: false });
    await minutes(60);
    expect(shown('schedule_missed_total')).toEqual([missed('unknown', 1), missed('schedule_disabled', 1)]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 0']);
  });

  it('counts an earlier missed run of a disabled job when it is enabled again', async () => {
    const { control, minutes, shown, jobs, id } = await comeBack({ apiVersion: 47 });
    await minutes(28);
    control.setExecutionMode('passive');
    await minutes(6);
    control.changeJob(id, { scheduleEnabled: false });
    await minutes(90);
    expect(jobs()[0]?.verdicts.map(({ is }) => is)).toEqual(['missed', 'off']);
    control.setExecutionMode('active');
    control.changeJob(id, { scheduleEnabled: true });
    await minutes(10);
    expect(jobs()[0]?.verdicts.map(({ is }) => is)).toEqual(['missed', 'missed', 'off']);
    expect(shown('schedule_missed_total')).toEqual([missed('unknown', 1), missed('passive', 1)]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 0']);
  });
});
