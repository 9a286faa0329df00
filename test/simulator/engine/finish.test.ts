import { describe, expect, it } from 'vitest';
import { ask, noon, startOneJob, untilEnd } from '../caller.ts';

describe('simulator/engine/finish', () => {
  it('retries a failed job: the next attempt exists at once, and its wait counts in its duration', async () => {
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

  it('cannot start the next attempt while passive: failed-with-retry without a successor', async () => {
    const simulator = await startOneJob({ failing: true, retry: { attempts: 1, delayMs: 0 } });
    simulator.control.runJob('job-1');
    simulator.control.setExecutionMode('passive');
    simulator.advance(60_000);
    const { json } = await ask(simulator, 'api/47/execution/1');
    await simulator.stop();
    expect(json).toMatchObject({ status: 'failed-with-retry' });
    expect(json).not.toHaveProperty('retriedExecution');
  });

  it('ends a run at its timeout and shows the step as aborted', async () => {
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
      executionState: 'ABORTED',
      completed: true,
      steps: [{ executionState: 'ABORTED', duration: 4000, nodeStates: { n1: { executionState: 'ABORTED' } } }],
    });
  });

  it('aborts by a GET, and shows who did it', async () => {
    const simulator = await startOneJob({});
    simulator.control.runJob('job-1');
    simulator.advance(2000);
    const abort = await ask(simulator, 'api/47/execution/1/abort');
    const execution = await ask(simulator, 'api/47/execution/1');
    const again = await ask(simulator, 'api/47/execution/1/abort');
    await simulator.stop();
    expect(abort.json).toMatchObject({ abort: { status: 'pending' }, execution: { id: 1 } });
    expect(execution.json).toMatchObject({ status: 'aborted', abortedby: 'exporter' });
    expect(again.json).toMatchObject({ abort: { status: 'failed', reason: 'Job is not running' } });
  });

  it('shows an end later than it happened if saving is slow', async () => {
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
});
