import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '../support/durations.ts';
import { createStopping } from './hourly.ts';

const dayAndMoreMs = 26 * hourMs;

function createJobs(everyMs: readonly number[] = [15 * minuteMs, hourMs]) {
  const scene = createStopping();
  scene.control.createProject('pay');
  for (const each of everyMs)
    scene.control.createJob('pay', {
      name: `every ${each / minuteMs} min`,
      schedule: { everyMs: each, offsetMs: 7000 },
    });
  const sum = (family: string, text = ''): number =>
    scene
      .shown(family)
      .filter((line) => line.includes(text))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
  return {
    ...scene,
    ahead: async (byMs: number, forMinutes: number): Promise<void> => {
      scene.control.setClockSkew(byMs);
      await scene.minutes(forMinutes);
      scene.control.setClockSkew(0);
    },
    missed: (reason = '') => sum('schedule_missed_total', reason),
    undecided: () => sum('schedule_undecided_total'),
    ran: () => sum('schedule_delay_seconds', '_count'),
  };
}

/** The number of times at the end that may still be undecided. */
const maxOpen = 3;

describe('expected-runs, a clock that was set ahead and back', () => {
  it.each([
    ['for a minute', 1],
    ['for two hours', 120],
  ])('finds every missed run after a clock was 26 hours ahead %s', async (_name, forMinutes) => {
    const { ahead, minutes, quickly, missed, undecided, ran, starts, find, schedule } = createJobs();
    await minutes(90);
    await ahead(dayAndMoreMs, forMinutes);
    const before = undecided();
    await minutes(45);
    // The counter rises soon, before the clock reaches its earlier times.
    expect(missed('reason="clock"')).toBeGreaterThanOrEqual(3);
    expect(find('pay/every 15 min')?.why.sentence).toMatch(
      /^Did not run at \d\d:\d\d UTC: the clock of the server was set ahead to 2026-01-\d\d \d\d:\d\d UTC and back, .* Fix: restart the server/s,
    );
    const hours = (await schedule()).hours.map(({ known }) => known?.missed['clock'] ?? 0);
    expect(hours.reduce((total, count) => total + count, 0)).toBeGreaterThanOrEqual(3);
    await quickly(30);
    expect(missed()).toBe(missed('reason="clock"'));
    // The job starts five times an hour.
    const shownAgain = (26 - forMinutes / 60) * 5;
    expect(Math.abs(missed() - shownAgain)).toBeLessThanOrEqual(2);
    expect(undecided() - before).toBeLessThanOrEqual(1);
    expect(ran()).toBeGreaterThanOrEqual(starts().length - maxOpen);
  });

  it('finds the missed runs after the clock was ten minutes ahead', async () => {
    const { ahead, minutes, missed, undecided, ran, starts } = createJobs([minuteMs]);
    await minutes(30);
    await ahead(10 * minuteMs, 1);
    await minutes(30);
    expect(missed()).toBe(missed('reason="clock"'));
    expect(missed()).toBeGreaterThanOrEqual(8);
    expect(undecided()).toBeLessThanOrEqual(13);
    expect(ran()).toBeGreaterThanOrEqual(starts().length - maxOpen);
  });

  it('finds no missed run after the clock was 26 hours behind for a minute', async () => {
    const { ahead, minutes, missed, undecided } = createJobs();
    await minutes(90);
    await ahead(-dayAndMoreMs, 1);
    await minutes(120);
    expect(missed()).toBe(0);
    expect(undecided()).toBeLessThanOrEqual(1);
  });

  it.each([
    ['both', [0, 3]],
    ['back', [2, 3]],
    ['ahead', [3, 2]],
  ])(
    'finds the missed runs if the clock was set %s while the exporter was stopped',
    async (name, [before = 0, away = 0]) => {
      const scene = createJobs();
      const { control, minutes, missed, undecided } = scene;
      await minutes(90);
      if (name !== 'back') scene.away(1);
      control.setClockSkew(dayAndMoreMs);
      if (before > 0 && name === 'back') await minutes(before);
      scene.away(away);
      if (name === 'ahead') await minutes(before);
      control.setClockSkew(0);
      if (name !== 'ahead') scene.away(1);
      await minutes(180);
      expect(missed()).toBeGreaterThanOrEqual(12);
      // Skipped times that no reading showed count as undecided at first.
      expect(undecided()).toBeLessThanOrEqual(name === 'ahead' ? 135 : 3);
    },
  );

  it('finds the missed runs after the clock was ahead twice', async () => {
    const { ahead, minutes, missed, undecided } = createJobs();
    await minutes(90);
    await ahead(dayAndMoreMs, 1);
    await minutes(120);
    const first = missed();
    expect(first).toBeGreaterThanOrEqual(8);
    await ahead(dayAndMoreMs, 1);
    await minutes(120);
    expect(missed() - first).toBeGreaterThanOrEqual(8);
    expect(undecided()).toBeLessThanOrEqual(4);
  });

  it('counts times of a fast clock as undecided without a run', async () => {
    const { control, ahead, minutes, missed } = createJobs([minuteMs]);
    await minutes(40);
    control.setClockSkew(hourMs);
    await minutes(12);
    control.setExecutionMode('passive');
    await ahead(hourMs, 8);
    control.setExecutionMode('active');
    await minutes(120);
    expect(missed('reason="passive"')).toBe(7);
    // The clock was set back after 20 minutes of the skipped hour.
    expect(missed('reason="clock"')).toBe(40);
    expect(missed()).toBe(47);
  });

  it('reports that no run starts after a clock was set back', async () => {
    const { control, minutes, restart, find, schedule, starts } = createJobs();
    await minutes(90);
    control.setClockSkew(-hourMs);
    const count = starts().length;
    await minutes(30);
    expect(starts().length).toBe(count);
    const fact =
      'the clock of the server was set back from 13:31 UTC to 12:31 UTC, and its scheduler might start nothing before 13:31 UTC';
    const [blocker] = (await schedule()).blockers;
    expect(blocker?.fact.fact).toBe(fact);
    expect(find('pay/every 15 min')?.why.sentence).toContain(`T${fact.slice(1)} (seen 12:31 UTC). `);
    restart(true);
    await minutes(2);
    expect((await schedule()).blockers).toHaveLength(1);
    await minutes(40);
    expect((await schedule()).blockers).toEqual([]);
    expect(starts().length).toBeGreaterThan(count);
  });

  it('prefers any other cause of a missed run to a clock step', async () => {
    const { control, ahead, minutes, missed } = createJobs();
    await minutes(90);
    await ahead(dayAndMoreMs, 1);
    await minutes(20);
    control.setExecutionMode('passive');
    await minutes(60);
    control.setExecutionMode('active');
    await minutes(20);
    expect(missed('reason="passive"')).toBe(5);
  });
});
