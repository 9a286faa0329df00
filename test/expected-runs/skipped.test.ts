import { expect, it } from 'vitest';
import { noPause } from '../../src/domain/pause.ts';
import { findSkipped } from '../../src/expected-runs/risks/find-skipped.ts';
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

it('lists runs without a later success first, critical ones before others, then by time', async () => {
  const of = { project: 'pay', group: '', sinceMs: 0, decidedMs: 0, listedAtMs: 0, off: [], runs: [], verdicts: [] };
  const jobs = ['good', 'late', 'early', 'critical'].map((name, index) => {
    return { ...of, id: name, name, misses: [{ reason: 'passive' as const, facts: [], timesMs: [10 - index] }] };
  });
  const successes = new Map([['pay/good', [{ startedAtMs: 11 }]]]);
  const isCritical = (path: string): boolean => path === 'pay/critical';
  const isProjectOff = (): boolean => false;
  const { runs } = await findSkipped({ jobs, sinceMs: 0, untilMs: 20, successes, isCritical, isProjectOff }, noPause);
  expect(runs.map(({ jobId }) => jobId)).toEqual(['critical', 'early', 'late', 'good']);
});
