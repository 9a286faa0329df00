import { describe, expect, it } from 'vitest';
import { work } from '../../../simulator/scenarios/build.ts';
import { ask, noon, oneStep, startOneJob, untilEnd } from '../caller.ts';

describe('simulator/engine/finish', () => {
  it('creates the next attempt of a failed job immediately', async () => {
    const simulator = await startOneJob({ failing: true, retry: { attempts: 1, delayMs: 30_000 } });
    simulator.control.runJob('job-1');
    const before = untilEnd(simulator, 1);
    const running = await ask(simulator, 'api/47/project/p/executions/running');
    const first = await ask(simulator, 'api/47/execution/1');
    simulator.advance(29_000);
    const waiting = await ask(simulator, 'api/47/execution/2/state');
    simulator.advance(60_000);
    const { executions } = simulator.truth();
    await simulator.stop();
    expect(running.json).toMatchObject({ executions: [{ id: 2, status: 'running', retryAttempt: 1 }] });
    expect(first.json).toMatchObject({ status: 'failed-with-retry', retriedExecution: { id: 2, status: 'running' } });
    expect(waiting.json).toMatchObject({ executionState: 'WAITING', completed: false, startTime: null });
    expect(executions.map(({ status, attempt, retriedById }) => [status, attempt, retriedById])).toEqual([
      ['failed-with-retry', 0, 2],
      ['failed', 1, undefined],
    ]);
    const [one, two] = executions;
    expect(two?.startedAtMs).toBe(one?.endedAtMs);
    expect((two?.endedAtMs ?? 0) - (two?.startedAtMs ?? 0)).toBeGreaterThan(30_000);
    expect(before).toBe('failed-with-retry');
  });

  it('cannot start the next attempt while passive', async () => {
    const simulator = await startOneJob({ failing: true, retry: { attempts: 1, delayMs: 0 } });
    simulator.control.runJob('job-1');
    simulator.control.setExecutionMode('passive');
    simulator.advance(60_000);
    const { json } = await ask(simulator, 'api/47/execution/1');
    await simulator.stop();
    expect(json).toMatchObject({ status: 'failed-with-retry' });
    expect(json).not.toHaveProperty('retriedExecution');
  });

  it('keeps the times of an ended run when the clock is set back', async () => {
    const simulator = await startOneJob({ timeoutMs: 4000 });
    simulator.control.runJob('job-1');
    simulator.advance(4000);
    const read = async () => (await ask(simulator, 'api/47/project/p/executions')).json;
    const before = await read();
    simulator.control.setClockSkew(-60_000);
    const after = await read();
    await simulator.stop();
    expect(before).toMatchObject({ executions: [{ status: 'timedout' }] });
    expect(after).toEqual(before);
  });

  it('ends a run at its timeout', async () => {
    const simulator = await startOneJob({ timeoutMs: 4000 });
    simulator.control.runJob('job-1');
    simulator.advance(5000);
    const execution = await ask(simulator, 'api/47/execution/1');
    const state = await ask(simulator, 'api/47/execution/1/state');
    await simulator.stop();
    expect(execution.json).toMatchObject({
      status: 'timedout',
      'date-ended': { unixtime: noon + 4000, date: '2026-01-15T12:00:04Z' },
      failedNodes: ['n1'],
    });
    expect(state.json).toMatchObject({
      executionState: 'FAILED',
      completed: true,
      steps: [{ executionState: 'FAILED', duration: 4000, nodeStates: { n1: { executionState: 'FAILED' } } }],
    });
  });

  it('shows who aborted an execution', async () => {
    const simulator = await startOneJob({});
    simulator.control.runJob('job-1');
    simulator.advance(2000);
    simulator.control.abort(1, 'amira');
    const execution = await ask(simulator, 'api/47/execution/1');
    await simulator.stop();
    expect(execution.json).toMatchObject({ status: 'aborted', abortedby: 'amira' });
  });

  it('shows an end late if saving is slow', async () => {
    const simulator = await startOneJob({});
    simulator.control.setSaveDelay(50_000);
    simulator.control.runJob('job-1');
    simulator.advance(30_000);
    const early = await ask(simulator, 'api/47/execution/1');
    const state = await ask(simulator, 'api/47/execution/1/state');
    simulator.advance(45_000);
    const late = await ask(simulator, 'api/47/project/p/executions?recentFilter=1h');
    const [truth] = simulator.truth().executions;
    await simulator.stop();
    expect(early.json).toMatchObject({ status: 'running' });
    expect(early.json).not.toHaveProperty('date-ended');
    expect(state.json).toMatchObject({ executionState: 'SUCCEEDED', completed: true });
    expect(late.json).toMatchObject({ executions: [{ id: 1, status: 'succeeded' }] });
    expect((truth?.visibleAtMs ?? 0) - (truth?.endedAtMs ?? 0)).toBe(50_000);
  });

  it('computes the average of ten successful runs', async () => {
    const simulator = await startOneJob({});
    simulator.control.configure({ averageDelayMs: 1000 });
    const averages: unknown[] = [];
    const read = async () => {
      const { json } = await ask(simulator, 'api/47/job/job-1/info');
      averages.push((json as { averageDuration?: number }).averageDuration);
    };
    const end = (seconds: number, status = 'succeeded') =>
      simulator.control.addFinished('p', {
        jobId: 'job-1',
        startedAtMs: noon - 60_000 - seconds * 1000,
        endedAtMs: noon - 60_000,
        status,
      });
    await read();
    end(90, 'failed');
    await read();
    for (let count = 1; count <= 10; count += 1) end(count);
    await read();
    end(105);
    await read();
    const id = simulator.control.runJob('job-1') ?? 0;
    untilEnd(simulator, id);
    const run = simulator.truth().executions.find((execution) => execution.id === id);
    await read();
    simulator.advance(1500);
    await read();
    await simulator.stop();
    // Ten runs take 55 s in total; a tenth of this is replaced by 105 s.
    const sum = 55_000 - 5500 + 105_000;
    const next = Math.floor((sum - Math.floor(sum / 10) + (run?.endedAtMs ?? 0) - (run?.startedAtMs ?? 0)) / 10);
    expect(averages).toEqual([undefined, undefined, 5500, 15_450, 15_450, next]);
  });

  it('counts runs that were a step of another job in the average duration', async () => {
    const simulator = await startOneJob({ failing: true });
    const steps = [{ kind: 'jobref', text: 'job-1', nodeStep: false, seconds: 0, failureChance: 0 }] as const;
    const whole = work(['n1'], steps, { references: new Map([['job-1', oneStep(undefined, true)]]) });
    simulator.control.createJob('p', { name: 'whole', work: whole }, 'whole');
    simulator.control.runJob('whole');
    untilEnd(simulator, 1);
    const { json } = await ask(simulator, 'api/47/job/job-1/info');
    await simulator.stop();
    expect((json as { averageDuration?: number }).averageDuration).toBeGreaterThan(2000);
  });

  it('removes the link to a deleted retry', async () => {
    const simulator = await startOneJob({ failing: true, retry: { attempts: 1, delayMs: 0 } });
    simulator.control.runJob('job-1');
    untilEnd(simulator, 1);
    untilEnd(simulator, 2);
    simulator.control.deleteExecutions([2]);
    const { json } = await ask(simulator, 'api/47/execution/1');
    await simulator.stop();
    expect(json).toMatchObject({ status: 'failed-with-retry' });
    expect(json).not.toHaveProperty('retriedExecution');
  });
});
