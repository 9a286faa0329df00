import { describe, expect, it } from 'vitest';
import { minuteMs } from '../support/durations.ts';
import { createStopping } from './hourly.ts';
import type { createScene } from './scene.ts';

function createJobs(options: Parameters<typeof createScene>[0] = {}) {
  const scene = createStopping(options);
  scene.control.createProject('pay');
  for (const [index, everyMs] of [minuteMs, 15 * minuteMs, 60 * minuteMs].entries())
    scene.control.createJob('pay', { name: `job ${index}`, schedule: { everyMs, offsetMs: 7000 } });
  return {
    ...scene,
    misses: () =>
      scene
        .shown('schedule_missed_total')
        .filter((line) => !line.endsWith(' 0'))
        .map((line) => line.slice(line.indexOf('job_name'))),
    count: (family: string) =>
      Number(
        scene
          .shown(family)
          .find((line) => !line.includes('bucket') && !line.includes('_sum'))
          ?.split(' ')
          .at(-1),
      ),
  };
}

describe('expected-runs, clocks that are set', () => {
  it.each([
    ['ten minutes ahead', 10],
    ['three minutes ahead', 3],
    ['three minutes behind', -3],
    ['ten minutes behind', -10],
    ['fifty minutes ahead', 50],
  ])('finds no missed run while a server clock is %s for an hour', { timeout: 60_000 }, async (_name, byMinutes) => {
    const { control, minutes, misses, count } = createJobs();
    await minutes(30);
    control.setClockSkew(byMinutes * minuteMs);
    await minutes(60);
    control.setClockSkew(0);
    await minutes(60);
    expect(misses()).toEqual([]);
    // The runs of an hour and a half, without repeated times.
    expect(count('schedule_delay_seconds')).toBeGreaterThan(80);
    // The skipped times, and the times of the minute of the change.
    const leaptMinutes = Math.abs(byMinutes);
    expect(count('schedule_undecided_total')).toBeLessThanOrEqual(leaptMinutes + 2 + Math.ceil(leaptMinutes / 15) * 2);
  });

  it('finds the missed runs of a passive server after its clock was set ahead', { timeout: 60_000 }, async () => {
    const { control, minutes, misses } = createJobs();
    await minutes(30);
    control.setClockSkew(10 * minuteMs);
    await minutes(30);
    control.setExecutionMode('passive');
    await minutes(60);
    control.setExecutionMode('active');
    await minutes(30);
    expect(misses()).toEqual([
      'job_name="job 0",reason="passive"} 60',
      'job_name="job 1",reason="passive"} 4',
      'job_name="job 2",reason="passive"} 1',
    ]);
  });

  it.each([5, -5])(
    'finds no missed run while a member clock is %s minutes wrong',
    { timeout: 60_000 },
    async (byMinutes) => {
      const { control, minutes, misses, count } = createJobs({ members: 2 });
      await minutes(30);
      control.setClockSkew(byMinutes * minuteMs, 1);
      await minutes(90);
      control.setClockSkew(0, 1);
      await minutes(60);
      expect(misses()).toEqual([]);
      expect(count('schedule_delay_seconds')).toBeGreaterThan(150);
      expect(count('schedule_undecided_total')).toBeLessThan(20);
    },
  );

  it.each([10, -10])('ignores a step of %s minutes of the clock of the exporter', async (byMinutes) => {
    const { setOwnClock, minutes, misses, count } = createJobs();
    await minutes(30);
    setOwnClock(byMinutes * minuteMs);
    await minutes(60);
    setOwnClock(0);
    await minutes(60);
    expect(misses()).toEqual([]);
    expect(count('schedule_undecided_total')).toBe(0);
    // The runs of the last minutes are not decided yet.
    expect(count('schedule_delay_seconds')).toBe(149 + 9 + 2);
  });

  it.each([
    ['the clock of the server was set ahead', 40, 0],
    ['our own clock was set back', 0, -40],
  ])('finds no missed run in an absence in which %s', async (_name, serverMinutes, ownMinutes) => {
    const { control, setOwnClock, minutes, away, misses, count } = createJobs();
    await minutes(30);
    away(60);
    control.setClockSkew(serverMinutes * minuteMs);
    setOwnClock(ownMinutes * minuteMs);
    away(60);
    await minutes(60);
    expect(misses()).toEqual([]);
    expect(count('schedule_delay_seconds')).toBeGreaterThan(150);
  });
});
