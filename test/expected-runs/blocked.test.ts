import { describe, expect, it } from 'vitest';
import { createHourly } from './hourly.ts';

describe('expected-runs, a job that was blocked before the exporter started', () => {
  it.each([
    ['The server is passive', 'set the execution mode of the server to active', { isPassive: true }],
    [
      'Executions of the project are switched off',
      'enable executions in the project',
      { pay: { executionsEnabled: false } },
    ],
    [
      'Schedules of the project are switched off',
      'enable schedules in the project',
      { pay: { scheduleEnabled: false } },
    ],
    [
      'Executions of the project are switched off (seen 12:01 UTC). Schedules of the project are switched off',
      'enable executions in the project; enable schedules in the project',
      { pay: { executionsEnabled: false, scheduleEnabled: false } },
    ],
    [
      'No run of the job is expected now. The execution of the job is switched off',
      'enable the execution of the job',
      { job: { enabled: false } },
    ],
    [
      'No run of the job is expected now. The schedule of the job is switched off',
      'enable the schedule of the job',
      { job: { scheduleEnabled: false } },
    ],
  ])(
    'explains what blocks the job before any time is decided: %s',
    async (fact, fix, { isPassive = false, pay = {}, job = {} }: Off) => {
      const { control, minutes, find, id } = createHourly();
      if (isPassive) control.setExecutionMode('passive');
      control.changeProject('pay', pay);
      control.changeJob(id, job);
      await minutes(3);
      const { sentence, facts } = find('pay/nightly/settle')?.why ?? {};
      expect(sentence).toContain(`${fact} (seen 12:01 UTC). No run has been seen.`);
      expect(sentence).toContain(`Fix: ${fix}.`);
      expect(facts?.map(({ at }) => at)).toContain('2026-01-15T12:01:00.000Z');
    },
  );

  it('suggests no fix for a cause that has ended', async () => {
    const { control, minutes, find } = createHourly();
    control.setExecutionMode('passive');
    await minutes(80);
    expect(find('pay/nightly/settle')?.why.sentence).toBe(
      'Did not run at 13:00 UTC: the server was passive (seen 12:01 UTC, 59 min before). No run has been seen. Next run: 14:00 UTC. Fix: set the execution mode of the server to active.',
    );
    control.setExecutionMode('active');
    await minutes(3);
    expect(find('pay/nightly/settle')?.why.sentence).not.toContain('Fix');
  });
});

type Off = {
  readonly isPassive?: boolean;
  readonly pay?: { readonly executionsEnabled?: boolean; readonly scheduleEnabled?: boolean };
  readonly job?: { readonly enabled?: boolean; readonly scheduleEnabled?: boolean };
};
