import { describe, expect, it } from 'vitest';
import { toEnding, toJobName, toJobPath } from '../../src/executions/counting/naming.ts';
import { someRun } from './some-execution.ts';

describe('executions/naming', () => {
  it.each([
    ['succeeded', 'succeeded'],
    ['failed', 'failed'],
    ['aborted', 'aborted'],
    ['timedout', 'timedout'],
    ['failed-with-retry', 'failed-with-retry'],
    ['missed', 'missed'],
    ['other', 'other'],
    ['running', 'other'],
    ['queued', 'other'],
  ] as const)('reads a finished execution with status %s as %s', (status, ending) => {
    expect(toEnding(someRun({ status }))).toBe(ending);
  });

  it.each([
    ['failed where a node failed', 3, ['web02'], 'failed'],
    ['succeeded where all nodes succeeded', 3, [], 'succeeded'],
    ['other where no node tells', 0, [], 'other'],
  ] as const)('reads a finished one-time run that is still scheduled as %s', (_name, succeededNodes, nodes, ending) => {
    expect(toEnding(someRun({ status: 'scheduled', succeededNodes, failedNodes: nodes }))).toBe(ending);
  });

  const id = 'a-1';
  const averageDurationMs = undefined;
  it.each([
    [
      'a job by its group and name',
      { id, name: 'settle', group: 'nightly', averageDurationMs },
      false,
      { group: 'nightly', name: 'settle' },
    ],
    ['a run without a job by nothing', undefined, false, { group: '', name: '' }],
    ['a deleted job by its mark, never as ad hoc', undefined, true, { group: '', name: '__deleted__' }],
    [
      'a deleted job by the name the row still has',
      { id, name: 'settle', group: '', averageDurationMs },
      true,
      { group: '', name: 'settle' },
    ],
    [
      'a job without a name as deleted',
      { id, name: undefined, group: 'old', averageDurationMs },
      false,
      { group: 'old', name: '__deleted__' },
    ],
  ] as const)('names %s', (_name, job, isJobDeleted, expected) => {
    expect(toJobName(someRun({ job, isJobDeleted }))).toEqual(expected);
  });

  it('writes the path of a job with its group, if the job has one', () => {
    expect(toJobPath('pay', { group: 'nightly/eu', name: 'settle' })).toBe('pay/nightly/eu/settle');
    expect(toJobPath('pay', { group: '', name: 'settle' })).toBe('pay/settle');
  });
});
