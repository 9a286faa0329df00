import { describe, expect, it } from 'vitest';
import { every } from '../../../simulator/scenarios/build.ts';
import { ask, noon, oneStep, startOneJob } from '../caller.ts';

describe('simulator/engine/restart', () => {
  it('interrupts runs, and later marks them as incomplete', async () => {
    const simulator = await startOneJob({});
    simulator.control.runJob('job-1');
    simulator.advance(3000);
    simulator.control.restart({ downForMs: 10_000, cleanupAfterMs: 20_000 });
    const down = await ask(simulator, 'api/47/system/info');
    simulator.advance(15_000);
    const before = await ask(simulator, 'api/47/execution/1');
    simulator.advance(20_000);
    const after = await ask(simulator, 'api/47/execution/1');
    const state = await ask(simulator, 'api/47/execution/1/state');
    await simulator.stop();
    expect([down.status, down.text]).toEqual([503, '']);
    expect(before.json).toMatchObject({ status: 'running' });
    expect(after.json).toMatchObject({
      status: 'other',
      customStatus: 'incomplete',
      'date-ended': { unixtime: noon + 13_000 },
    });
    expect(state.json).toMatchObject({ executionState: 'RUNNING', completed: false });
  });

  it('starts ids at 1 again with a new database', async () => {
    const simulator = await startOneJob({});
    simulator.control.runJob('job-1');
    simulator.advance(60_000);
    simulator.control.restart({ newDatabase: true });
    const id = simulator.control.runJob('job-1');
    simulator.advance(60_000);
    const list = await ask(simulator, 'api/47/project/p/executions');
    const truths = simulator.truth().executions.map((truth) => truth.id);
    await simulator.stop();
    expect(id).toBe(1);
    expect(list.json).toMatchObject({ paging: { total: 1 }, executions: [{ id: 1 }] });
    expect(truths).toEqual([1, 1]);
  });

  it('keeps the runs of a lost member running forever', async () => {
    const simulator = await startOneJob({ members: 2 });
    simulator.control.createJob('p', { name: 'second', schedule: every(1, 'y'), work: oneStep() }, 'second');
    simulator.control.runJob('job-1');
    simulator.advance(1000);
    simulator.control.loseMember(1);
    simulator.advance(120_000);
    const state = await ask(simulator, 'api/47/execution/1/state');
    const runs = simulator.truth().executions.map(({ jobName, member, status }) => `${jobName} ${member} ${status}`);
    await simulator.stop();
    expect(state.text).toBe('{"error":"pending"}');
    expect(runs).toEqual(['second auto-1 succeeded', 'second auto-1 succeeded', 'one auto-2 running']);
  });

  it('keeps deleted executions only in the truth', async () => {
    const simulator = await startOneJob({});
    simulator.control.runJob('job-1');
    simulator.advance(60_000);
    simulator.control.deleteExecutions([1]);
    const gone = await ask(simulator, 'api/47/execution/1');
    const metrics = await ask(simulator, 'api/47/executions/metrics');
    const [truth] = simulator.truth().executions;
    await simulator.stop();
    expect(gone.status).toBe(404);
    expect(metrics.json).toMatchObject({ total: 0 });
    expect(truth).toMatchObject({ id: 1, status: 'succeeded', deletedAtMs: noon + 60_000 });
  });
});
