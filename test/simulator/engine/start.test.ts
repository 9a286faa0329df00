import { describe, expect, it } from 'vitest';
import { every } from '../../../simulator/scenarios/build.ts';
import { ask, noon, oneStep, startOneJob } from '../caller.ts';

describe('simulator/engine/start', () => {
  it('starts a scheduled run late if all threads are busy', async () => {
    const simulator = await startOneJob({ threadPoolSize: 1 });
    simulator.control.createJob(
      'p',
      { name: 'cron', schedule: { everyMs: 60_000, offsetMs: 1000 }, work: oneStep() },
      'cron',
    );
    simulator.control.runCommand('p', 'first');
    simulator.control.runJob('job-1');
    simulator.advance(1500);
    const waiting = await ask(simulator, 'api/47/execution/2/state');
    const running = await ask(simulator, 'api/47/project/p/executions/running');
    simulator.advance(50_000);
    const runs = simulator
      .truth()
      .executions.map(({ id, jobName, startedAtMs, status }) => [id, jobName, startedAtMs - noon > 1500, status]);
    await simulator.stop();
    expect(waiting.json).toMatchObject({ executionState: 'WAITING', completed: false });
    expect(running.json).toMatchObject({ paging: { total: 2 } });
    expect(runs).toEqual([
      [1, undefined, false, 'succeeded'],
      [2, 'one', false, 'succeeded'],
      [3, 'cron', true, 'succeeded'],
    ]);
  });

  it('refuses a second run of a running job', async () => {
    const simulator = await startOneJob({});
    const ids = [simulator.control.runJob('job-1'), simulator.control.runJob('job-1')];
    await simulator.stop();
    expect(ids).toEqual([1, undefined]);
  });

  it('creates no execution while the schedule of a job is disabled', async () => {
    const simulator = await startOneJob({});
    simulator.control.changeJob('job-1', { schedule: every(1, 'x') });
    simulator.advance(180_000);
    const before = simulator.truth().executions.length;
    simulator.control.changeJob('job-1', { scheduleEnabled: false });
    simulator.advance(180_000);
    const after = simulator.truth().executions.length;
    await simulator.stop();
    expect([before, after]).toEqual([3, 3]);
  });
});
