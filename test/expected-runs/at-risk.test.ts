import { describe, expect, it } from 'vitest';
import { createHourly } from './hourly.ts';

describe('expected-runs, coming runs at risk', () => {
  it('publishes 0 if no run is at risk, and removes trouble that has ended', async () => {
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

  it('counts the known times of a project that is switched off', async () => {
    const { control, minutes, shown } = createHourly();
    await minutes(3);
    control.changeProject('pay', { executionsEnabled: false });
    await minutes(3);
    expect(shown('schedule_at_risk_runs')).toContain(
      'automation_schedule_at_risk_runs{reason="executions_disabled",horizon="12h"} 12',
    );
  });
});
