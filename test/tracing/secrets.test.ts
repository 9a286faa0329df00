import { describe, expect, it } from 'vitest';
import { encodeTrace } from '../../src/tracing/deliver/encode.ts';
import { readRecording, toTreeText } from '../../src/tracing/enrich/replay.ts';
import type { TraceSettings } from '../../src/tracing/plan/settings.ts';
import { planSource } from './recorded.ts';

const canary = (place: string): string => `canary-${place}`;
const date = (unixtime: number) => ({ unixtime, date: '2024-05-20T10:13:20Z' });

const recording = {
  execution: {
    id: 4711,
    status: 'aborted',
    project: 'shop',
    user: canary('user'),
    abortedby: canary('aborter'),
    'date-started': date(1716200000123),
    'date-ended': date(1716200009456),
    job: {
      id: 'j',
      name: 'nightly',
      group: 'g',
      description: canary('job-description'),
      options: { secret: canary('option'), shown: 'canary-shown', traceparent: canary('traceparent') },
    },
    description: canary('description'),
    argstring: `-secret ${canary('argstring')}`,
  },
  state: {
    executionState: 'FAILED',
    serverNode: 'auto-1',
    errorMessage: canary('state-message'),
    steps: [
      {
        stepctx: '1',
        nodeStep: true,
        executionState: 'FAILED',
        startTime: '2024-05-20T10:13:20Z',
        duration: 1000,
        errorMessage: canary('step-message'),
        meta: { failureReason: canary('reason'), commandLine: canary('meta') },
        parameters: { node: canary('parameter') },
        nodeStates: {
          web01: {
            executionState: 'FAILED',
            startTime: '2024-05-20T10:13:20Z',
            duration: 900,
            errorMessage: canary('node-message'),
            meta: { failureReason: canary('node-reason') },
          },
        },
      },
      { stepctx: '2', nodeStep: true, executionState: 'SUCCEEDED', startTime: '2024-05-20T10:13:21Z', duration: 5 },
      {
        stepctx: '3',
        nodeStep: false,
        executionState: 'SUCCEEDED',
        startTime: '2024-05-20T10:13:21Z',
        duration: 5,
        workflow: { steps: [{ stepctx: '3/1', nodeStep: true, executionState: 'SUCCEEDED', duration: 1 }] },
      },
      { stepctx: '4', nodeStep: false, executionState: 'SUCCEEDED', startTime: '2024-05-20T10:13:21Z', duration: 5 },
    ],
  },
  workflow: {
    workflow: [
      { exec: canary('command'), errorhandler: { exec: canary('handler') } },
      { script: canary('script'), args: canary('args'), scriptInterpreter: canary('interpreter') },
      {
        jobref: { name: 'child', group: 'g', args: `-password ${canary('reference-args')}` },
        jobId: 'c',
        workflow: [{ scripturl: canary('url') }],
      },
      { type: 'upload', nodeStep: false, configuration: { key: canary('configuration') } },
    ],
  },
  loggedReason: canary('log'),
};

/** Finds secrets in all output: bytes, JSON and tree. */
function listCanaries(changes: Partial<TraceSettings> = {}): readonly string[] {
  const { trace } = planSource(readRecording(JSON.stringify(recording)), changes);
  const decoder = new TextDecoder();
  const texts = [
    decoder.decode(encodeTrace(trace, 'protobuf')),
    decoder.decode(encodeTrace(trace, 'json')),
    toTreeText(trace),
    JSON.stringify(trace),
  ];
  return [...new Set(texts.flatMap((text) => text.match(/canary-[a-z-]+/g) ?? []))].toSorted();
}

describe('tracing/secrets', () => {
  it('contains no secret and no user', () => {
    expect(listCanaries()).toEqual([]);
    expect(listCanaries({ joining: { option: 'traceparent', mode: 'parent' } })).toEqual([]);
  });

  it('shows only the configured values', () => {
    expect(listCanaries({ options: ['shown', 'absent'] })).toEqual(['canary-shown']);
    expect(listCanaries({ withUserNames: true })).toEqual(['canary-aborter', 'canary-user']);
    expect(listCanaries({ withArgstring: true })).toEqual(['canary-argstring']);
  });

  it('contains the steps without secrets', () => {
    const { trace } = planSource(readRecording(JSON.stringify(recording)));
    expect(trace.spans.map(({ name }) => name)).toEqual([
      'RUN shop/g/nightly',
      'command',
      'web01',
      'script',
      'child',
      'script',
      'upload',
    ]);
  });
});
