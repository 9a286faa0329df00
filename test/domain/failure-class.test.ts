import { describe, expect, it } from 'vitest';
import { executionStatuses } from '../../src/domain/execution.ts';
import { isFailure, toFailureClass } from '../../src/domain/failure-class.ts';
import { toEnding } from '../../src/executions/counting/naming.ts';
import { someRun } from '../executions/some-execution.ts';

const failed = {
  status: 'failed',
  customStatus: undefined,
  reason: undefined,
  isRead: true,
  isStopped: false,
} as const;

describe('domain/failure-class', () => {
  it.each([
    ['ConnectionTimeout', 'target'],
    ['AuthenticationFailure', 'access'],
    ['NoMatchedNodes', 'inventory'],
    ['InvalidOptions', 'definition'],
    ['PluginFailed', 'system'],
    ['Interrupted', 'stopped'],
    ['NonZeroResultCode', 'work'],
    ['PluginWord', 'unknown'],
  ] as const)('puts %s into %s', (reason, failureClass) => {
    expect(toFailureClass({ ...failed, reason })).toBe(failureClass);
  });

  it.each([
    [
      'an execution that ran out of time, whatever its steps say',
      { status: 'timedout', reason: 'HostNotFound' },
      'stopped',
    ],
    ['an execution that was cut off', { status: 'other', customStatus: 'incomplete', isRead: false }, 'system'],
    ['a custom status without a word', { status: 'other', customStatus: 'held', isRead: false }, 'unknown'],
    ['a custom status with a word', { status: 'other', customStatus: 'held', reason: 'IOFailure' }, 'system'],
    ['an attempt that was only stopped', { status: 'failed-with-retry', isStopped: true }, 'stopped'],
    ['a failure without a word', {}, 'unknown'],
    ['a failure whose steps were not read', { isRead: false }, 'unread'],
  ] as const)('classifies %s', (_what, facts, failureClass) => {
    expect(toFailureClass({ ...failed, ...facts })).toBe(failureClass);
  });

  it('calls failures what counts as failed, timed out, failed with a retry, or ended in another way', () => {
    const runs = executionStatuses.flatMap((status) =>
      [[], ['web01']].flatMap((failedNodes) =>
        [0, 1].map((succeededNodes) => someRun({ status, failedNodes, succeededNodes })),
      ),
    );
    const harmless = ['succeeded', 'aborted', 'missed'];
    expect(runs.map(isFailure)).toEqual(runs.map((run) => !harmless.includes(toEnding(run))));
  });
});
