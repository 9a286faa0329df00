import { describe, expect, it } from 'vitest';
import { readRecording, toTreeText } from '../../src/tracing/enrich/replay.ts';
import { planSource } from './recorded.ts';

/** A step whose handler is a job (rundeck dialect): without a step `1e`, the paths of the job begin at 1 again. */
const recording = {
  execution: {
    id: 4711,
    status: 'succeeded',
    project: 'shop',
    'date-started': { unixtime: 1716200000000 },
    'date-ended': { unixtime: 1716200009000 },
    job: { id: '5f1c', name: 'nightly', group: '' },
  },
  state: {
    executionId: 4711,
    serverNode: 'auto-1',
    executionState: 'SUCCEEDED',
    steps: [
      {
        hasSubworkflow: true,
        workflow: {
          executionState: 'SUCCEEDED',
          steps: [
            {
              nodeStates: { web01: { executionState: 'SUCCEEDED', startTime: '2024-05-20T10:13:23Z', duration: 1000 } },
              parameterStates: {},
              id: '1',
              stepctx: '1',
              nodeStep: true,
              executionState: 'SUCCEEDED',
              startTime: '2024-05-20T10:13:23Z',
              duration: 1000,
            },
          ],
        },
        nodeStates: {
          web01: {
            executionState: 'FAILED',
            startTime: '2024-05-20T10:13:20Z',
            duration: 2000,
            meta: { failureReason: 'NonZeroResultCode', resultCode: 127 },
          },
        },
        parameterStates: {},
        id: '1',
        stepctx: '1',
        nodeStep: true,
        executionState: 'SUCCEEDED',
        startTime: '2024-05-20T10:13:20Z',
        duration: 5000,
        meta: { handlerTriggered: 'true' },
      },
      {
        nodeStates: { web01: { executionState: 'SUCCEEDED', startTime: '2024-05-20T10:13:26Z', duration: 1000 } },
        parameterStates: {},
        id: '2',
        stepctx: '2',
        nodeStep: true,
        executionState: 'SUCCEEDED',
        startTime: '2024-05-20T10:13:26Z',
        duration: 1000,
      },
    ],
  },
  workflow: {
    workflow: [
      {
        exec: 'x',
        description: 'Deploy',
        errorhandler: { jobref: { name: 'roll-back', group: '', nodeStep: 'true' } },
        ehJobId: '77aa',
        ehWorkflow: [{ exec: 'z', description: 'Undo' }],
      },
      { exec: 'y', description: 'Announce' },
    ],
  },
};

describe('tracing/plan, reported handlers', () => {
  it('names the steps of a job that handled an error', () => {
    const { trace } = planSource(readRecording(JSON.stringify(recording)));

    expect(`\n${toTreeText(trace)}`).toBe(`
RUN shop/nightly 0..9000 success - the execution succeeded
  Deploy (1) 0..5000 success [handler] - succeeded
    web01 (1@web01) 0..2000 failure NonZeroResultCode - failed, NonZeroResultCode
    Undo (1/1) 3000..4000 success - succeeded
      web01 (1/1@web01) 3000..4000 success - succeeded
  Announce (2) 6000..7000 success - succeeded
    web01 (2@web01) 6000..7000 success - succeeded
`);
  });

  it('names the steps of a job whose failure a script handled', () => {
    const [, announce] = recording.workflow.workflow;
    const reference = {
      jobref: { name: 'deploy', group: '' },
      jobId: '77aa',
      workflow: [{ exec: 'z', description: 'Copy' }],
    };
    const defined = { workflow: [{ ...reference, errorhandler: { script: 'x' } }, announce] };
    const { trace } = planSource(readRecording(JSON.stringify({ ...recording, workflow: defined })));

    expect(trace.spans.map(({ name }) => name)).toEqual([
      'RUN shop/nightly',
      'deploy',
      'web01',
      'Copy',
      'web01',
      'Announce',
      'web01',
    ]);
  });

  it('shows the node of a step that ran on the node of the server', () => {
    const nodeStates = { 'auto-1': { executionState: 'SUCCEEDED', startTime: '2024-05-20T10:13:20Z', duration: 2000 } };
    const step = {
      id: '1',
      stepctx: '1',
      executionState: 'SUCCEEDED',
      startTime: '2024-05-20T10:13:20Z',
      duration: 2000,
    };
    const namesOf = (nodeStep: boolean): string[] => {
      const state = { ...recording.state, steps: [{ ...step, nodeStates, nodeStep }] };
      const source = readRecording(JSON.stringify({ ...recording, state }));
      return planSource(source).trace.spans.map(({ name }) => name);
    };
    expect(namesOf(true)).toEqual(['RUN shop/nightly', 'step 1', 'auto-1']);
    expect(namesOf(false)).toEqual(['RUN shop/nightly', 'step 1']);
  });
});
