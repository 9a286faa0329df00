import { describe, expect, it } from 'vitest';
import { executionState } from '../../src/api/endpoints/execution-state.ts';
import { isWhole } from '../../src/domain/step-state.ts';

const endedAtMs = Date.parse('2024-05-20T10:13:29.456Z');

function isWholeAs(fields: Record<string, unknown>): boolean {
  const state = executionState.body.parse({ steps: [], ...fields });
  return state !== 'pending' && isWhole(state, endedAtMs);
}

describe('domain/step-state', () => {
  it.each([
    ['it says so', { completed: true, executionState: 'FAILED', endTime: '2024-05-20T10:13:29Z' }, true],
    [
      'it ended before the log was closed',
      { completed: true, executionState: 'FAILED', endTime: '2024-05-20T10:13:20Z' },
      true,
    ],
    ['it does not know when it ended', { completed: true, executionState: 'SUCCEEDED', endTime: null }, true],
    ['nothing in it ever began', { completed: true, executionState: 'WAITING' }, true],
    ['an old server has no such word, and the state has an end', { executionState: 'ABORTED' }, true],
    ['it says that it is not', { completed: false, executionState: 'RUNNING' }, false],
    ['it says so in text', { completed: 'false', executionState: 'SUCCEEDED' }, false],
    ['an old server has no such word, and the state still runs', { executionState: 'RUNNING' }, false],
    ['an old server has no such word, and its handler still runs', { executionState: 'RUNNING_HANDLER' }, false],
    ['an old server has no such word, and the state never began', { executionState: 'WAITING' }, false],
    ['it is over, and still runs', { completed: true, executionState: 'RUNNING' }, false],
    [
      'one of its steps still runs',
      { completed: true, executionState: 'FAILED', steps: [{ executionState: 'RUNNING' }] },
      false,
    ],
    ['it ended long before', { completed: true, executionState: 'FAILED', endTime: '2024-05-20T10:12:59Z' }, false],
  ])('decides whether the state of an execution is complete if %s', (_, fields, whole) => {
    expect(isWholeAs(fields)).toBe(whole);
  });
});
