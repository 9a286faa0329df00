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
    ['target', 'HostNotFound ConnectionTimeout ConnectionFailure SSHProtocolFailure'],
    ['access', 'AuthenticationFailure Unauthorized StorageTierAccessError'],
    ['inventory', 'NoMatchedNodes'],
    [
      'definition',
      'ConfigurationFailure InvalidOptions NotFound WrongParameter EmptyValue NoGroup NoName ParseArgumentsError',
    ],
    [
      'system',
      'PluginFailed IOFailure ServiceFailure ExecutionServiceError URLDownloadFailure CopyFileFailed ScriptPluginFileCopierOutputMissing ScriptFileCopierPluginExpectedOutputMissing',
    ],
    ['stopped', 'Interrupted ExecutionsDisabled FlowControlHalted'],
    ['work', 'NonZeroResultCode ConditionNotMet AnsibleNonZero AnsibleError'],
    // Reasons that summarize failures, reasons of plugins for tests, and a reason of an unknown plugin.
    ['unknown', 'Unknown NodeDispatchFailure WorkflowSequenceFailures JobFailed Intentional InvalidData PluginWord'],
  ] as const)('puts into %s: %s', (failureClass, words) => {
    const found = words.split(' ').map((reason) => [reason, toFailureClass({ ...failed, reason })]);
    expect(found).toEqual(words.split(' ').map((reason) => [reason, failureClass]));
  });

  it.each([
    [
      'an execution that ran out of time, whatever its steps say',
      { status: 'timedout', reason: 'HostNotFound' },
      'stopped',
    ],
    ['an execution that was cut off', { status: 'other', customStatus: 'incomplete', isRead: false }, 'system'],
    ['a custom status without a reason', { status: 'other', customStatus: 'held', isRead: false }, 'unknown'],
    ['a custom status with a reason', { status: 'other', customStatus: 'held', reason: 'IOFailure' }, 'system'],
    ['an attempt that was only stopped', { status: 'failed-with-retry', isStopped: true }, 'stopped'],
    ['a failure without a reason', {}, 'unknown'],
    ['a failure whose steps were not read', { isRead: false }, 'unread'],
  ] as const)('classifies %s', (_what, facts, failureClass) => {
    expect(toFailureClass({ ...failed, ...facts })).toBe(failureClass);
  });

  it('counts as failures: failed, timed out, failed with retry, and other ends', () => {
    const runs = executionStatuses.flatMap((status) =>
      [[], ['web01']].flatMap((failedNodes) =>
        [0, 1].map((succeededNodes) => someRun({ status, failedNodes, succeededNodes })),
      ),
    );
    const harmless = ['succeeded', 'aborted', 'missed'];
    expect(runs.map(isFailure)).toEqual(runs.map((run) => !harmless.includes(toEnding(run))));
  });
});
