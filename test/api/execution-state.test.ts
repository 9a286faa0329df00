import { describe, expect, it } from 'vitest';
import { executionState } from '../../src/api/endpoints/execution-state.ts';

describe('api/endpoints/execution-state', () => {
  it('reads steps, nodes, references and runs for each node', () => {
    const perNode = {
      parameters: { node: 'web01' },
      id: '2',
      stepctx: '2@node=web01',
      nodeStep: true,
      executionState: 'NODE_MIXED',
      startTime: null,
      endTime: null,
      duration: -1,
    };
    const answer = {
      executionId: 4711,
      serverNode: 'auto-1',
      completed: true,
      executionState: 'FAILED',
      startTime: '2024-05-20T10:13:20Z',
      endTime: null,
      steps: [
        {
          id: '2',
          stepctx: '2',
          nodeStep: true,
          executionState: 'FAILED',
          startTime: '2024-05-20T10:13:20Z',
          endTime: '2024-05-20T10:13:21Z',
          duration: 1204,
          meta: { failureReason: 'NonZeroResultCode', resultCode: 1 },
          nodeStates: { web01: { executionState: 'RUNNING_HANDLER', startTime: '2024-05-20T10:13:20Z' } },
          workflow: { steps: [{ id: '1', stepctx: '2/1', executionState: 'MELTED' }] },
          parameterStates: { 'node=web01': perNode },
        },
      ],
    };
    const nothing = { startedAtMs: undefined, endedAtMs: undefined, durationMs: undefined, failureReason: undefined };
    const noBelow = { isNodeStep: false, nodes: [], workflow: undefined, perNode: [] };
    expect(executionState.body.parse(answer)).toEqual({
      ...nothing,
      condition: 'failed',
      startedAtMs: 1716200000000,
      isCompleted: true,
      serverNode: 'auto-1',
      steps: [
        {
          condition: 'failed',
          startedAtMs: 1716200000000,
          endedAtMs: 1716200001000,
          durationMs: 1204,
          failureReason: 'NonZeroResultCode',
          exitCode: 1,
          context: '2',
          isNodeStep: true,
          nodes: [{ ...nothing, condition: 'running-handler', node: 'web01', startedAtMs: 1716200000000 }],
          workflow: [{ ...nothing, ...noBelow, condition: 'unknown', context: '2/1' }],
          perNode: [{ ...nothing, ...noBelow, condition: 'mixed', context: '2@node=web01', isNodeStep: true }],
        },
      ],
    });
  });

  it('reads the words of newer servers', () => {
    // Step 1: in release 6, its conditions were not met. Step 2: in earlier releases, a plugin gave no reason.
    const answer = {
      steps: [
        { stepctx: '1', executionState: 'SKIPPED', duration: -1, nodeStates: { web01: { executionState: 'SKIPPED' } } },
        { stepctx: '2', executionState: 'FAILED', meta: { failureReason: 'Unknown', handlerTriggered: 'true' } },
      ],
    };

    expect(executionState.body.parse(answer)).toMatchObject({
      steps: [
        { condition: 'not-started', nodes: [{ node: 'web01', condition: 'not-started' }] },
        { condition: 'failed', failureReason: undefined, hadHandler: true },
      ],
    });
  });

  it('distinguishes a loading state from an unreadable state', () => {
    expect(executionState.body.parse({ error: 'pending' })).toBe('pending');
    expect(executionState.body.safeParse({ error: 'other' }).success).toBe(false);
    expect(executionState.body.safeParse([]).success).toBe(false);
  });

  it('limits the depth of references that never end', () => {
    let steps: unknown[] = [];
    for (let depth = 0; depth < 20_000; depth += 1) steps = [{ executionState: 'FAILED', workflow: { steps } }];
    expect(executionState.body.safeParse({ steps }).success).toBe(true);
  });

  it.each([
    [{ resultCode: 3 }, 'Remote command failed with exit status 3', 'NonZeroResultCode'],
    [{ resultCode: '3' }, undefined, 'NonZeroResultCode'],
    [{}, 'Remote command failed with exit status 3', 'NonZeroResultCode'],
    [{ resultCode: -1 }, 'Exhausted available authentication methods', 'AuthenticationFailure'],
    [{ resultCode: -1 }, 'Connection refused', 'ConnectionFailure'],
    [{ resultCode: 0 }, 'odd', undefined],
    [{}, 'odd', undefined],
    [{ failureReason: 'LoginRefused: admin/hunter2' }, undefined, 'LoginRefused'],
    // The server stopped the command at a timeout or at the size limit of the log.
    [{ failureReason: 'NonZeroResultCode', resultCode: 2_147_483_647 }, 'Result code was 2147483647', 'Interrupted'],
  ])('reads the reason of a command from its exit code: %j, %s', (meta, errorMessage, failureReason) => {
    const state = { executionState: 'FAILED', errorMessage, meta: { failureReason: 'Unknown', ...meta } };
    const answer = { executionState: 'FAILED', steps: [{ nodeStep: true, nodeStates: { web01: state } }] };
    const read = executionState.body.parse(answer);
    expect(read).toMatchObject({ steps: [{ nodes: [{ node: 'web01', failureReason }] }] });
    expect(JSON.stringify(read)).not.toContain('2147483647');
  });
});
