import { describe, expect, it } from 'vitest';
import type { SpanSource } from '../../src/domain/span-source.ts';
import type { StepState } from '../../src/domain/step-state.ts';
import { toBareExecution } from '../../src/tracing/enrich/gather.ts';
import { someRun } from '../executions/some-execution.ts';
import { planSource } from './recorded.ts';

const beginMs = 100_000;

function step(context: string, changes: Partial<StepState> = {}): StepState {
  return {
    context,
    condition: 'failed',
    startedAtMs: beginMs,
    endedAtMs: beginMs + 1000,
    durationMs: undefined,
    failureReason: undefined,
    isNodeStep: true,
    nodes: [],
    workflow: undefined,
    perNode: [],
    ...changes,
  };
}

/** Returns the state of one node at a step, with its end in seconds after the start. */
function node(name: string, failureReason: string, seconds: number, changes: Partial<StepState> = {}) {
  return { ...step('', changes), node: name, failureReason, endedAtMs: beginMs + seconds * 1000 };
}

function planOf(steps: readonly StepState[] | undefined, changes: Partial<SpanSource> = {}) {
  const run = someRun({ status: 'failed', startedAtMs: beginMs, endedAtMs: beginMs + 60_000 });
  const execution = toBareExecution({ ...run, project: 'pay', epoch: 1, seenAtMs: 0 });
  const state = steps && { ...step(''), isCompleted: true, serverNode: undefined, steps };
  return planSource({ execution, state, ...changes }, {});
}

const failureOf = (...given: Parameters<typeof planOf>) => planOf(...given)?.failure;

const classOf = (...given: Parameters<typeof failureOf>) => failureOf(...given)?.failureClass;

describe('tracing/failure', () => {
  it('uses the reason of the node that failed first', () => {
    const parallel = step('1', { nodes: [node('web01', 'NonZeroResultCode', 9), node('web02', 'HostNotFound', 4)] });
    expect(classOf([parallel])).toBe('target');
    const open = { ...node('web01', 'NonZeroResultCode', 0), endedAtMs: undefined };
    expect(classOf([step('1', { nodes: [open, node('web02', 'HostNotFound', 4)] })])).toBe('target');
  });

  it.each([
    ['timed out', { status: 'timedout' }, { failureClass: 'stopped', reason: 'timeout' }],
    ['was cut off', { status: 'other', customStatus: 'incomplete' }, { failureClass: 'system', reason: undefined }],
  ] as const)('names the step in which an execution %s', (_how, status, cause) => {
    const execution = toBareExecution({
      ...someRun({ ...status, endedAtMs: beginMs + 60_000 }),
      project: 'pay',
      epoch: 1,
      seenAtMs: 0,
    });
    const earlier = step('1', { nodes: [node('web01', 'IOFailure', 3, { exitCode: 5 })] });
    const handled = step('2', { condition: 'succeeded', failureReason: 'IOFailure', hadHandler: true });
    const child = step('4/1', { nodes: [node('web01', 'IOFailure', 3)] });
    const reference = { ...handled, path: '4', isNodeStep: false, workflow: [child] };
    expect(failureOf([reference], { execution })?.step).toBeUndefined();
    for (const condition of ['aborted', 'running'] as const) {
      const endedAtMs = condition === 'running' ? undefined : beginMs + 60_000;
      const last = step('3', {
        condition,
        endedAtMs,
        nodes: ['a', 'b'].map((name) => ({ ...step(''), node: name, condition, endedAtMs })),
      });
      expect(failureOf([earlier, handled, last], { execution })).toMatchObject({
        ...cause,
        exitCode: undefined,
        node: 'b',
        step: '3',
        others: [{ node: 'a' }],
      });
      expect(failureOf([handled], { execution })?.step).toBeUndefined();
    }
  });

  it('does not name a parallel step that was interrupted', () => {
    const parallel = step('1', {
      nodes: [
        node('web01', 'Interrupted', 4),
        { ...node('web02', 'NonZeroResultCode', 4), startedAtMs: beginMs + 1000 },
      ],
    });
    const planned = planOf([parallel]);
    expect(planned.failure).toMatchObject({ failureClass: 'work', node: 'web02' });
    expect(planned.trace.spans[0]?.attributes['error.type']).toBe('NonZeroResultCode');
  });

  it('names the limit of an execution that timed out', () => {
    const run = {
      ...someRun({ status: 'timedout', endedAtMs: beginMs + 4000 }),
      project: 'pay',
      epoch: 1,
      seenAtMs: 0,
    };
    const interrupted = step('1', { nodes: [node('web01', 'Interrupted', 4)] });
    const failure = failureOf([interrupted], { execution: toBareExecution(run) });
    expect(failure).toMatchObject({ failureClass: 'stopped', reason: 'timeout', node: 'web01', step: '1' });
  });

  it('names the other nodes on which the same step failed', () => {
    const first = step('1', { nodes: ['a', 'b', 'c'].map((name, at) => node(name, 'IOFailure', 9 - at)) });
    const second = step('2', { nodes: [node('a', 'IOFailure', 20)] });
    expect(failureOf([first, second])).toMatchObject({
      node: 'c',
      others: [
        { node: 'b', context: '1' },
        { node: 'a', context: '1' },
      ],
    });
  });

  it('follows a job reference to the failed step of the referenced job', () => {
    const child = step('1/1', { nodes: [node('web01', 'AuthenticationFailure', 3)] });
    expect(classOf([step('1', { failureReason: 'JobFailed', isNodeStep: false, workflow: [child] })])).toBe('access');
  });

  it('ignores failures that an error handler recovered', () => {
    const recovered = step('1', { nodes: [node('web01', 'HostNotFound', 1)] });
    const handler = step('1e', { condition: 'succeeded', nodes: [node('web01', '', 2, { condition: 'succeeded' })] });
    expect(classOf([recovered, handler, step('2', { nodes: [node('web01', 'IOFailure', 5)] })])).toBe('system');
  });

  it('ignores recovered failures in a referenced job', () => {
    const child = step('1/1', { nodes: [node('web01', 'HostNotFound', 1)] });
    const recovered = step('1', { isNodeStep: false, workflow: [child] });
    const handler = step('1e', { condition: 'succeeded' });
    expect(classOf([recovered, handler, step('2', { nodes: [node('web01', 'IOFailure', 5)] })])).toBe('system');
  });

  it('uses the earlier of two steps that failed in the same second', () => {
    const long = step('1', { nodes: [node('web01', 'HostNotFound', 0, { durationMs: 380 })] });
    const short = step('2', { nodes: [node('web01', 'IOFailure', 0, { durationMs: 16 })] });
    const steps = [long, short];
    expect(failureOf(steps)).toMatchObject({ failureClass: 'target', context: '1' });
    expect(planOf(steps)?.trace.spans[0]?.attributes['error.type']).toBe('HostNotFound');
  });

  it('uses the recovered step of a failed run without failed steps', () => {
    const handled = step('1', { condition: 'succeeded', hadHandler: true, failureReason: 'ConnectionFailure' });
    expect(classOf([handled])).toBe('target');
    // In some states, nothing shows that a handler ran.
    const mended = node('web01', 'NonZeroResultCode', 1, { condition: 'succeeded', exitCode: 2 });
    expect(failureOf([step('1', { condition: 'succeeded', nodes: [mended] })])).toMatchObject({
      failureClass: 'work',
      exitCode: 2,
      node: 'web01',
    });
  });

  it('uses the reason of the log if no step has a reason', () => {
    expect(classOf([], { loggedReason: 'NoMatchedNodes' })).toBe('inventory');
    expect(classOf([step('1')])).toBe('unknown');
    expect(classOf(undefined)).toBe('unread');
  });

  it('names the log limit that interrupted the steps', () => {
    const loggedReason = 'LogLimitExceeded';
    const planned = planOf([step('1', { nodes: [node('web01', 'Interrupted', 1)] })], { loggedReason });
    expect(planned.failure).toMatchObject({ failureClass: 'stopped', reason: loggedReason });
    expect(planned.trace.spans[0]).toMatchObject({
      why: `the execution failed; the log gives ${loggedReason}`,
      attributes: { 'error.type': loggedReason },
    });
    expect(failureOf([step('1', { nodes: [node('web01', 'IOFailure', 1)] })], { loggedReason })?.reason).toBe(
      'IOFailure',
    );
  });
});
