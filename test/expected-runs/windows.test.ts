import { expect, it } from 'vitest';
import { createHourly } from './hourly.ts';

it('counts a late run as running, because a restart would end it', async () => {
  const { control, minutes, windows, id } = createHourly();
  for (let run = 0; run < 4; run += 1) {
    await minutes(5);
    control.runJob(id);
  }
  await minutes(5);
  control.setConditions({ stuckJobs: [id] });
  control.runJob(id);
  await minutes(10);
  const { windows: found, overdue, running } = await windows(5 * 60_000);
  expect({ overdue, running: running.length }).toEqual({ overdue: 1, running: 1 });
  // It is ten minutes late, and may be as late again.
  const [best] = found;
  expect(best?.runs).toBe(0);
  expect((best?.startMs ?? 0) - Date.parse('2026-01-15T12:35:00Z')).toBeGreaterThanOrEqual(9 * 60_000);
});
