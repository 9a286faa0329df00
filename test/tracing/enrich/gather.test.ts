import { describe, expect, it, onTestFinished } from 'vitest';
import type { TracedExecution } from '../../../src/domain/span-source.ts';
import { createWorkflows, gatherSteps } from '../../../src/tracing/enrich/gather.ts';
import { toRootOutcome } from '../../../src/tracing/plan/root-outcome.ts';
import { someRun, untracedFields } from '../../executions/some-execution.ts';
import { startCannedServer } from '../../support/canned-server.ts';
import { createTestClient, fixedSecret } from '../../support/client.ts';

const failed: TracedExecution = { ...someRun({ id: 7, status: 'failed', job: undefined }), ...untracedFields };

async function start() {
  const server = await startCannedServer({ apiVersion: 47, dialect: 'rundeck' });
  const { api, close } = createTestClient({ url: server.url, token: fixedSecret(server.token), dialect: 'rundeck' });
  onTestFinished(server.stop);
  onTestFinished(close);
  let nowTicks = 0;
  const workflows = createWorkflows(() => nowTicks);
  const wait = (ms: number): void => {
    nowTicks += ms;
  };
  const gatherOnce = ({ isLastTry = false, readsLogs = false, execution = failed } = {}) =>
    gatherSteps(api, execution, { detail: 'nodes', isDiagnosed: true, readsLogs, workflows, isLastTry });
  return { server, gatherOnce, wait };
}

function stateOf(node: string): string {
  return `{"executionState":"FAILED","steps":[{"stepctx":"1","nodeStep":true,"executionState":"FAILED","nodeStates":{"web01":${node}}}]}`;
}

/** Reads a failed run with one step; the state of one node is given. */
async function gatherWith(node: string) {
  const { server, gatherOnce } = await start();
  server.answer({
    'execution/7/state': { body: stateOf(node) },
    'execution/7/output': {
      body: '{"id":"7","completed":true,"entries":[{"log":"Failed: NonZeroResultCode: Result code was 1","level":"ERROR"}]}',
    },
  });
  const { source } = await gatherOnce();
  return {
    reason: source.loggedReason,
    asked: server.requests.filter((request) => request.includes('/output')).length,
  };
}

describe('tracing/enrich/gather', () => {
  it('does not read the log if the state contains the reason', async () => {
    const node = '{"executionState":"FAILED","meta":{"failureReason":"HostNotFound"}}';
    expect(await gatherWith(node)).toEqual({ reason: undefined, asked: 0 });
  });

  it.each([
    ['too_large', { body: `"${'x'.repeat(9_000_000)}"` }],
    [undefined, { status: 404, body: '{"error":true,"errorCode":"api.error.item.doesnotexist"}' }],
  ])('marks the trace as %s if its state cannot be read for this reason', async (mark, state) => {
    const { server, gatherOnce } = await start();
    server.answer({ 'execution/7/state': state });
    const { source, isPending } = await gatherOnce({ execution: { ...failed, status: 'succeeded' } });
    expect({ isPending, state: source.state, mark: source.degraded }).toEqual({
      isPending: false,
      state: undefined,
      mark,
    });
  });

  it.each([
    [
      'denied',
      'the token cannot read the steps',
      { status: 403, body: '{"error":true,"errorCode":"api.error.item.unauthorized"}' },
    ],
    [
      'gone',
      'the server does not have the steps',
      { status: 404, body: '{"error":true,"errorCode":"api.error.item.doesnotexist"}' },
    ],
  ])('says why the steps of a failed run are unknown: %s', async (unread, because, state) => {
    const { server, gatherOnce } = await start();
    server.answer({ 'execution/7/state': state, 'execution/7/output': state });
    const { source } = await gatherOnce();
    expect(source.unread).toBe(unread);
    expect(toRootOutcome(source, [], {}).why).toBe(`the execution failed; ${because}`);
  });

  it('requests the workflow of a failed run again soon', async () => {
    const job = { id: 'j1', name: 'settle', group: '', averageDurationMs: undefined };
    const { server, gatherOnce, wait } = await start();
    server.answer({
      'execution/7/state': { body: stateOf('{"executionState":"FAILED","meta":{"failureReason":"HostNotFound"}}') },
      'job/j1/workflow': { body: '{"workflow":[]}' },
    });
    const gathered = async (status: 'failed' | 'succeeded') => {
      await gatherOnce({ execution: { ...failed, status, job } });
      return server.requests.filter((request) => request.includes('/workflow')).length;
    };
    expect([await gathered('succeeded'), await gathered('failed')]).toEqual([1, 1]);
    wait(30_000);
    expect([await gathered('succeeded'), await gathered('failed')]).toEqual([1, 2]);
  });

  it('reads the end of the log if the state contains no reason', async () => {
    expect(await gatherWith('{"executionState":"FAILED"}')).toEqual({ reason: 'NonZeroResultCode', asked: 1 });
  });

  it('uses no reason of a step that finally succeeded', async () => {
    const node = '{"executionState":"SUCCEEDED","meta":{"failureReason":"HostNotFound"}}';
    expect(await gatherWith(node)).toEqual({ reason: 'NonZeroResultCode', asked: 1 });
  });

  it.each([
    [1, 'failed', { status: 'failed' }],
    [0, 'exceeded its limit of time', { status: 'timedout' }],
    [0, 'was ended with its server', { status: 'other', customStatus: 'incomplete' }],
    [0, 'succeeded', { status: 'succeeded' }],
    [0, 'has no job', { status: 'other', job: undefined }],
  ] as const)('reads %i log to diagnose a run that %s', async (logs, _what, fields) => {
    const { server, gatherOnce } = await start();
    server.answer({ 'execution/7/state': { body: stateOf('{"executionState":"FAILED"}') } });
    const execution = { ...failed, job: someRun().job, ...fields };
    await gatherOnce({ readsLogs: true, execution }).catch(() => undefined);
    expect(server.requests.filter((request) => request.includes('/output'))).toHaveLength(logs);
  });

  it.each([
    [true, 'failed', { status: 'failed' }],
    [false, 'was ended with its server', { status: 'other', customStatus: 'incomplete' }],
  ] as const)('waits (%s) for the end of the steps of a run that %s', async (waits, _what, fields) => {
    const { server, gatherOnce } = await start();
    const running = stateOf('{"executionState":"RUNNING"}').replaceAll('FAILED', 'RUNNING');
    server.answer({ 'execution/7/state': { body: running } });
    expect((await gatherOnce({ execution: { ...failed, ...fields } })).isPending).toBe(waits);
  });

  it('finds the reason of a failure among later log lines', async () => {
    const lines = Array.from({ length: 26 }, (_, line) => ({ log: `detail ${line}`, level: 'VERBOSE' }));
    const { gatherOnce, server } = await start();
    server.answer({
      'execution/7/state': { body: stateOf('{"executionState":"FAILED"}') },
      'execution/7/output': {
        body: JSON.stringify({ completed: true, entries: [{ log: 'Failed: IOFailure: x', level: 'ERROR' }, ...lines] }),
      },
    });
    const { source } = await gatherOnce();
    expect(source.loggedReason).toBe('IOFailure');
    expect(server.requests.at(-1)).toBe('GET /api/47/execution/7/output?lastlines=200');
  });

  it.each([
    [199, undefined],
    [200, 50_000],
  ])('reports the size of a log of %i lines only if the log was cut', async (count, bytes) => {
    const { gatherOnce, server } = await start();
    const entries = Array.from({ length: count }, (_, line) => ({ log: `detail ${line}`, level: 'VERBOSE' }));
    server.answer({
      'execution/7/state': { body: stateOf('{"executionState":"FAILED"}') },
      'execution/7/output': { body: JSON.stringify({ completed: true, totalSize: 50_000, entries }) },
    });
    const { source } = await gatherOnce({ readsLogs: true, execution: { ...failed, job: someRun().job } });
    expect(source.cutLogBytes).toBe(bytes);
  });

  it.each([
    ['Log output limit exceeded: Maximum Line count: 100, action: halt', 'LogLimitExceeded'],
    ['Failed: IOFailure: x', undefined],
  ])('uses the log as the reason of interrupted steps only if it names the log limit: %s', async (log, reason) => {
    const { gatherOnce, server } = await start();
    const node = '{"executionState":"FAILED","meta":{"failureReason":"NonZeroResultCode","resultCode":2147483647}}';
    server.answer({
      'execution/7/state': { body: stateOf(node) },
      'execution/7/output': { body: JSON.stringify({ completed: true, entries: [{ log, level: 'ERROR' }] }) },
    });
    const { source } = await gatherOnce({ readsLogs: true, execution: { ...failed, job: someRun().job } });
    expect(source.loggedReason).toBe(reason);
  });

  it('makes the trace without the log if the log cannot be read', async () => {
    const { gatherOnce, server } = await start();
    server.answer({
      'execution/7/state': { body: stateOf('{"executionState":"FAILED"}') },
      'execution/7/output': { status: 403, body: '{"error":"Not authorized","id":"7","offset":"0","completed":false}' },
    });
    const { source, isPending } = await gatherOnce();
    expect([isPending, source.loggedReason, source.state?.steps.length]).toEqual([false, undefined, 1]);
  });

  it('requests a log once more if the responding member does not have the log', async () => {
    const { gatherOnce, server } = await start();
    const lost = '{"error":"gone","empty":true,"completed":true,"entries":[]}';
    const found = '{"completed":true,"entries":[{"log":"Failed: IOFailure: x","level":"ERROR"}]}';
    const members = [lost, found, lost, lost];
    server.answer({
      'execution/7/state': { body: stateOf('{"executionState":"FAILED"}') },
      get 'execution/7/output'() {
        return { body: members.shift() ?? '' };
      },
    });
    expect((await gatherOnce()).source.loggedReason).toBe('IOFailure');
    expect(await gatherOnce()).toMatchObject({ isPending: false, source: { loggedReason: undefined } });
  });

  it.each([
    ['is still loading', { message: 'Pending', pending: 'Waiting', entries: [] }],
    ['has only its beginning', { retryBackoff: 2000, entries: [{ level: 'ERROR', log: 'Failed: IOFailure: x' }] }],
  ])('requests the log again if it %s', async (_what, log) => {
    const { gatherOnce, server } = await start();
    server.answer({
      'execution/7/state': { body: stateOf('{"executionState":"FAILED"}') },
      'execution/7/output': { body: JSON.stringify({ completed: false, execCompleted: true, ...log }) },
    });
    const execution = { ...failed, job: someRun().job };
    expect(await gatherOnce({ readsLogs: true, execution })).toMatchObject({ isPending: true });
    const { isPending, source } = await gatherOnce({ readsLogs: true, execution, isLastTry: true });
    expect([isPending, source.loggedReason, source.log]).toEqual([true, undefined, []]);
    expect(source.state?.steps).toHaveLength(1);
  });

  it('uses the available parts in the last attempt', async () => {
    const { gatherOnce, server } = await start();
    server.answer({ 'execution/7/state': { status: 500, body: '{"error":"A server error occurred"}' } });
    await expect(gatherOnce()).rejects.toThrow('500');
    const last = await gatherOnce({ isLastTry: true });
    expect([last.isPending, last.source.state]).toEqual([true, undefined]);
  });
});

function setUp() {
  let nowTicks = 0;
  const asked: string[] = [];
  const workflows = createWorkflows(() => nowTicks);
  const read = (jobId: string) =>
    workflows.read(jobId, async () => {
      asked.push(jobId);
      return jobId === 'hidden' ? undefined : [];
    });
  const wait = (ms: number): void => {
    nowTicks += ms;
  };
  return { read, asked, wait };
}

describe('tracing/enrich/workflows', () => {
  it.each([
    ['ten minutes', 'settle', 600_000],
    ['30 s if the job was missing', 'hidden', 30_000],
  ])('requests the workflow of a job again after %s', async (_when, job, ms) => {
    const { read, asked, wait } = setUp();
    await read(job);
    wait(ms - 1);
    await read(job);
    expect(asked).toEqual([job]);
    wait(1);
    await read(job);
    expect(asked).toEqual([job, job]);
  });

  it('keeps the workflows of the latest 500 jobs', async () => {
    const { read, asked } = setUp();
    for (let job = 0; job <= 500; job += 1) await read(`job ${job}`);
    await read('job 1');
    expect(asked).toHaveLength(501);
    await read('job 0');
    expect(asked.slice(501)).toEqual(['job 0']);
  });
});
