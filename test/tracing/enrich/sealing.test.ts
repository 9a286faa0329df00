import { describe, expect, it } from 'vitest';
import { systemInfo } from '../../../src/api/endpoints/system.ts';
import { setUp } from './finished-run.ts';

const ofState = '/execution/\\d+/state$';
const minuteMs = 60_000;

/** An old state of the finished run, from another cluster member. */
const stale = JSON.stringify({
  executionId: 1,
  serverNode: 'auto-1',
  executionState: 'RUNNING',
  completed: false,
  startTime: '1970-01-01T00:00:00Z',
  endTime: null,
  steps: [
    {
      stepctx: '1',
      nodeStep: true,
      executionState: 'RUNNING',
      startTime: '1970-01-01T00:00:00Z',
      endTime: null,
      duration: 10,
    },
  ],
});

describe('tracing/enrich, when a trace is sealed', () => {
  it('waits for a member with an older state', async () => {
    const { simulator, run, wait, plans, told } = await setUp();
    simulator.control.addFault({ kind: 'status', status: 200, body: stale, path: ofState, times: 3 });
    for (let passes = 0; passes < 3; passes += 1) {
      await run();
      wait(minuteMs);
    }
    expect(plans).toEqual([]);
    await run();
    expect(plans[0]?.trace.spans.map(({ attributes }) => attributes['cicd.pipeline.task.run.result'])).toEqual([
      undefined,
      'success',
      'success',
    ]);
    expect(told).toEqual(['pending 1', 'spooled', 'pending 0']);
  });

  it('sends a last request at the end of the wait', async () => {
    const { simulator, run, wait, plans } = await setUp();
    simulator.control.addFault({ kind: 'status', status: 200, body: stale, path: ofState });
    const asked = (): number => simulator.requests().filter(({ path }) => path.endsWith('/state')).length;
    await run();
    wait(10 * minuteMs - 500);
    await run();
    expect(asked()).toBe(2);
    wait(500);
    await run();
    expect([asked(), plans.length]).toEqual([2, 0]);
    wait(1);
    await run();
    expect([asked(), plans.length]).toEqual([3, 1]);
  });

  it('sends an older state after the seal timeout', async () => {
    const { simulator, run, wait, plans, told } = await setUp();
    simulator.control.addFault({ kind: 'status', status: 200, body: stale, path: ofState });
    await run();
    wait(10 * minuteMs + 1);
    await run();
    expect(plans[0]?.trace.spans.map(({ attributes }) => attributes)).toEqual([
      expect.objectContaining({ 'automation.trace.degraded': 'seal_timeout', 'cicd.pipeline.result': 'success' }),
      expect.objectContaining({ 'automation.span.end_inferred': true, 'error.type': 'incomplete' }),
    ]);
    expect(told).toContain('degraded seal_timeout');
  });

  it.each([
    [
      'its token is revoked',
      403,
      JSON.stringify({ error: true, apiversion: 47, errorCode: 'unauthorized', message: 'no' }),
    ],
    ['something asks for other credentials', 401, ''],
    ['a page in front of it refuses', 403, '<html>no</html>'],
    ['too much is asked of it', 429, ''],
    ['it is under maintenance', 503, '<html>back soon</html>'],
    ['a gateway does not reach it', 502, ''],
  ])('keeps the steps of a pending trace while %s', async (_, status, body) => {
    const { simulator, run, wait, plans, told, ask } = await setUp();
    simulator.control.addFault({ kind: 'status', status, body, path: ofState });
    for (let minutes = 0; minutes < 13; minutes += 1) {
      await run();
      wait(minuteMs);
    }
    expect(plans).toEqual([]);
    simulator.control.clearFaults();
    // A vital request shows that the server is back, so enrichment continues.
    await ask('vital').get(systemInfo);
    simulator.control.configure({ statePending: 'all' });
    await run();
    expect(plans).toEqual([]);
    simulator.control.configure({ statePending: new Set() });
    wait(minuteMs);
    await run();
    expect(plans[0]?.trace.spans).toHaveLength(3);
    expect(told).toEqual(['pending 1', 'spooled', 'pending 0']);
  });

  it('stops waiting for a state that the server never returns for this execution', async () => {
    const { simulator, run, wait, plans, told } = await setUp();
    simulator.control.addFault({ kind: 'status', status: 500, path: ofState });
    for (let minutes = 0; minutes < 10; minutes += 1) {
      await run();
      wait(minuteMs);
    }
    expect(plans).toEqual([]);
    wait(minuteMs);
    await run();
    expect(plans[0]?.trace.spans.map(({ name }) => name)).toEqual(['RUN pay/nightly/settle']);
    // A trace keeps the values of its execution when its steps are lost.
    expect(plans[0]?.trace.resource).toHaveProperty(['cicd.pipeline.run.url.full']);
    expect(told).toContain('degraded seal_timeout');
  });

  it('repeats failed requests even after the seal timeout', async () => {
    const { simulator, run, wait, plans, told } = await setUp({ backlogAgeMs: 60 * minuteMs });
    simulator.control.addFault({ kind: 'status', status: 500, path: ofState, times: 9 });
    for (let tries = 0; tries < 3; tries += 1) {
      await run();
      expect(plans).toEqual([]);
      wait(11 * minuteMs);
    }
    simulator.control.clearFaults();
    await run();
    expect(plans[0]?.trace.spans).toHaveLength(3);
    expect(told).not.toContain('degraded seal_timeout');
  });

  it('stops waiting at the seal timeout for a state that never ends', async () => {
    const { simulator, run, wait, plans, told } = await setUp();
    simulator.control.addFault({ kind: 'status', status: 500, path: ofState, times: 3 });
    await run();
    simulator.control.clearFaults();
    simulator.control.addFault({ kind: 'status', status: 200, body: stale, path: ofState });
    wait(minuteMs);
    await run();
    expect(plans).toEqual([]);
    wait(10 * minuteMs);
    await run();
    expect(plans).toHaveLength(1);
    expect(told).toContain('degraded seal_timeout');
  });

  it('keeps the steps if the system clock is set', async () => {
    const { simulator, run, add, wait, setWallAhead, plans, told, pending } = await setUp({
      backlogAgeMs: 20 * minuteMs,
    });
    simulator.control.configure({ statePending: 'all' });
    await run();
    expect(plans).toEqual([]);
    setWallAhead(60 * minuteMs);
    simulator.control.configure({ statePending: new Set() });
    wait(minuteMs);
    await run();
    expect(plans[0]?.trace.spans).toHaveLength(3);
    // The monotonic clock shows that the execution is too old, whatever the wall clock shows.
    setWallAhead(-60 * minuteMs);
    add([{ ...pending, id: 2, seenAtMs: Date.UTC(2026, 0, 15, 12) }]);
    wait(20 * minuteMs + 1);
    await run();
    expect(told).toContain('degraded backlog');
  });

  it('waits for the state after a long time in the queue', async () => {
    const { simulator, run, add, wait, plans, told, pending } = await setUp({ backlogAgeMs: 60 * minuteMs });
    await run();
    expect(plans).toHaveLength(1);
    simulator.control.configure({ statePending: 'all' });
    add([pending]);
    wait(11 * minuteMs);
    await run();
    expect(plans).toHaveLength(1);
    wait(9 * minuteMs);
    simulator.control.configure({ statePending: new Set() });
    await run();
    expect(plans[1]?.trace.spans).toHaveLength(3);
    expect(told).not.toContain('degraded seal_timeout');
  });

  it('waits the whole time again after a restart', async () => {
    const { simulator, run, wait, plans, told } = await setUp({ backlogAgeMs: 24 * 60 * minuteMs });
    wait(8 * 60 * minuteMs);
    simulator.control.configure({ statePending: 'all' });
    await run();
    wait(10 * minuteMs);
    await run();
    expect(plans).toEqual([]);
    wait(1);
    await run();
    expect(told).toContain('degraded seal_timeout');
  });

  it('requests a state once more before it stops waiting', async () => {
    const { simulator, run, wait, plans } = await setUp({ backlogAgeMs: 24 * 60 * minuteMs });
    wait(8 * 60 * minuteMs);
    simulator.control.configure({ statePending: 'all' });
    await run();
    expect(plans).toEqual([]);
    simulator.control.configure({ statePending: new Set() });
    wait(minuteMs);
    await run();
    expect(plans[0]?.trace.spans).toHaveLength(3);
  });
});
