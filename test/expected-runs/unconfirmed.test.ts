import { afterEach, describe, expect, it } from 'vitest';
import { createScene } from './scene.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A job that starts every hour on the hour; it is half past one, and nobody watched the passive server at one. */
async function comeBack(apiVersion: number) {
  const scene = createScene({ apiVersion });
  stops.push(scene.stop);
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

describe('expected-runs, what is switched off before it is confirmed', () => {
  it('decides what a project that is switched off misses, although nothing confirms an earlier time', async () => {
    const { control, minutes, shown } = await comeBack(47);
    control.changeProject('pay', { scheduleEnabled: false });
    await minutes(60);
    expect(shown('schedule_missed_total')).toEqual([missed('unknown', 0), missed('schedule_disabled', 1)]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 1']);
  });

  it('counts the earlier miss, too, where the list of jobs tells that no schedule was edited', async () => {
    const { control, minutes, shown } = await comeBack(58);
    control.changeProject('pay', { scheduleEnabled: false });
    await minutes(60);
    expect(shown('schedule_missed_total')).toEqual([missed('unknown', 1), missed('schedule_disabled', 1)]);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 0']);
  });

  it('decides that a job which was switched off is off, although nothing confirms an earlier time', async () => {
    const { control, minutes, shown, jobs, id } = await comeBack(47);
    await minutes(28);
    control.setExecutionMode('passive');
    await minutes(6);
    control.changeJob(id, { scheduleEnabled: false });
    await minutes(90);
    expect(jobs()[0]?.verdicts.map(({ is }) => is)).toEqual(['missed', 'undecided', 'off']);
    expect(shown('schedule_undecided_total')).toEqual(['automation_schedule_undecided_total{project="pay"} 1']);
  });
});
