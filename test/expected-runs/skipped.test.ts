import { expect, it } from 'vitest';
import { birthMs } from '../executions/scene.ts';
import { createHourly } from './hourly.ts';

it('keeps each missed run of a passive time with its cause, over a restart', async () => {
  const { control, minutes, restart, skipped } = createHourly();
  await minutes(3);
  control.setExecutionMode('passive');
  await minutes(70);
  restart(true);
  await minutes(60);
  control.setExecutionMode('active');
  await minutes(60);
  const { missed, left, runs } = await skipped(birthMs);
  expect({ missed, left }).toEqual({ missed: 2, left: 2 });
  expect(runs).toMatchObject([
    {
      job: { project: 'pay', group: 'nightly', name: 'settle' },
      reason: 'passive',
      count: 2,
      firstMs: Date.parse('2026-01-15T13:00:00Z'),
      lastMs: Date.parse('2026-01-15T14:00:00Z'),
      facts: [{ fact: 'the server was passive' }],
    },
  ]);
});
