import { describe, expect, it } from 'vitest';
import { noPause } from '../../src/domain/pause.ts';
import { findSkipped } from '../../src/expected-runs/risks/find-skipped.ts';
import { toSkippedStatus } from '../../src/status/skipped.ts';
import { toWindows } from '../../src/status/windows.ts';
import { birthMs } from '../executions/scene.ts';
import { createHourly } from './hourly.ts';
import { someJob } from './some-job.ts';

it('keeps each missed run of a passive time with its cause', async () => {
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

it('reports that running executions cannot be read', async () => {
  let isBusy = false;
  const hourly = createHourly({ isRefused: (name) => isBusy && name === 'running-executions' });
  await hourly.minutes(3);
  hourly.control.setExecutionMode('passive');
  await hourly.minutes(70);
  const unknownOf = async () => {
    const found = { skipped: await hourly.skipped(birthMs + 60_000 * 3), silence: undefined, serverUrl: '' };
    return toSkippedStatus('prod', found).unknown;
  };
  expect(await unknownOf()).toBeNull();
  isBusy = true;
  await hourly.minutes(1);
  expect(await unknownOf()).toBe('running executions are not known, so a later run may be in progress');
});

it('lists runs without a later success first', async () => {
  const jobs = ['good', 'late', 'early', 'critical'].map((name, index) => {
    return someJob({ id: name, misses: [{ reason: 'passive', facts: [], timesMs: [10 - index] }] });
  });
  const successes = new Map([['pay/good', [{ startedAtMs: 11 }]]]);
  const isCritical = (path: string): boolean => path === 'pay/critical';
  const isProjectOff = (): boolean => false;
  const { runs } = await findSkipped(
    { jobs, sinceMs: 0, untilMs: 20, successes, running: new Map(), isCritical, isProjectOff, hours: [] },
    noPause,
  );
  expect(runs.map(({ jobId }) => jobId)).toEqual(['critical', 'early', 'late', 'good']);
});

it('counts an overdue run as in progress', async () => {
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
  // The run is ten minutes late, and may take another ten minutes.
  const [best] = found;
  expect(best?.runs).toBe(0);
  expect((best?.startMs ?? 0) - Date.parse('2026-01-15T12:35:00Z')).toBeGreaterThanOrEqual(9 * 60_000);
});

it('reports no free window after a run of unknown duration', async () => {
  const { control, minutes, windows, id } = createHourly();
  await minutes(3);
  control.setConditions({ stuckJobs: [id] });
  control.runJob(id);
  await minutes(10);
  const found = await windows(5 * 60_000);
  const wish = { forMs: 5 * 60_000, withinMs: 2 * 3_600_000, count: 1 };
  const { sentence, windows: shown } = toWindows('prod', wish, { found, silence: undefined });
  expect(sentence).toMatch(/^Now 1 run in progress, .*; the duration of 1 of them is unknown\.$/);
  expect(shown).toMatchObject([{ runs: 0, jobs_without_durations: 1 }]);
});

it('reports projects whose running executions cannot be read', async () => {
  let isBusy = false;
  const { minutes, windows } = createHourly({ isRefused: (name) => isBusy && name === 'running-executions' });
  await minutes(5);
  expect((await windows(5 * 60_000)).unread).toEqual([]);
  isBusy = true;
  await minutes(1);
  expect(await windows(5 * 60_000)).toMatchObject({ unread: ['pay'], running: [] });
});

describe('expected-runs, coming runs at risk', () => {
  it('publishes 0 if no run is at risk', async () => {
    const { control, minutes, shown } = createHourly();
    await minutes(3);
    const all = shown('schedule_at_risk_runs');
    expect(all).toContain('automation_schedule_at_risk_runs{reason="passive",horizon="12h"} 0');
    expect(all.every((line) => line.endsWith(' 0'))).toBe(true);
    expect(shown('job_next_run_at_risk')).toEqual([]);

    control.setExecutionMode('passive');
    await minutes(1);
    expect(shown('schedule_at_risk_runs')).toEqual(
      expect.arrayContaining([
        'automation_schedule_at_risk_runs{reason="passive",horizon="1h"} 1',
        'automation_schedule_at_risk_runs{reason="passive",horizon="12h"} 12',
        'automation_schedule_at_risk_runs{reason="job_failing",horizon="12h"} 0',
      ]),
    );
    expect(shown('job_next_run_at_risk')).toEqual([
      'automation_job_next_run_at_risk{project="pay",job_group="nightly",job_name="settle",reason="passive"} 1',
    ]);

    control.setExecutionMode('active');
    await minutes(1);
    expect(shown('schedule_at_risk_runs')).toContain(
      'automation_schedule_at_risk_runs{reason="passive",horizon="12h"} 0',
    );
    expect(shown('job_next_run_at_risk')).toEqual([]);
  });

  it('counts the known coming runs of a project whose executions are switched off', async () => {
    const { control, minutes, shown } = createHourly();
    await minutes(3);
    control.changeProject('pay', { executionsEnabled: false });
    await minutes(3);
    expect(shown('schedule_at_risk_runs')).toContain(
      'automation_schedule_at_risk_runs{reason="executions_disabled",horizon="12h"} 12',
    );
  });
});
