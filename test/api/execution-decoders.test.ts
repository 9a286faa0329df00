import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/api/answers/classify.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { execution } from '../../src/api/endpoints/execution.ts';
import { executionOutput } from '../../src/api/endpoints/execution-output.ts';
import { executionState } from '../../src/api/endpoints/execution-state.ts';
import { jobWorkflow } from '../../src/api/endpoints/job-workflow.ts';
import { ApiError, errorKinds } from '../../src/api/errors.ts';
import { fc } from '../support/property.ts';

const samples: readonly (readonly [Endpoint<unknown>, string])[] = [
  [
    execution,
    '{"id":4711,"status":"failed","project":"p","user":"u","date-started":{"unixtime":1716200000123},"date-ended":{"unixtime":1716200009456},"job":{"id":"j","name":"n","group":"g","options":{"a":"b"}},"argstring":null,"failedNodes":["w"],"retryAttempt":1,"retriedExecution":{"id":4712}}',
  ],
  [
    executionState,
    '{"executionId":1,"serverNode":"a","executionState":"FAILED","steps":[{"stepctx":"1","executionState":"FAILED","startTime":"2024-05-20T10:13:20Z","duration":5,"meta":{"failureReason":"IOFailure"},"nodeStates":{"w":{"executionState":"FAILED"}},"workflow":{"steps":[{"stepctx":"1/1"}]},"parameterStates":{"node=w":{"stepctx":"1@node=w"}}}]}',
  ],
  [executionOutput, '{"id":"1","completed":true,"entries":[{"log":"Failed: IOFailure: x","level":"ERROR"}]}'],
  [
    jobWorkflow,
    '{"workflow":[{"exec":"x","description":"d","errorhandler":{"exec":"y"}},{"jobref":{"name":"c","nodeStep":"true"},"jobId":"c","workflow":[{"script":"s"}]}]}',
  ],
];

const nasty = fc.constantFrom(
  '{"steps":[{"nodeStates":{"__proto__":{"x":1}}}]}',
  '{"workflow":[null]}',
  '[]',
  'null',
  '',
);

/** A literal answer with one of its values replaced by any other. */
const mutated = (sample: string) =>
  fc.tuple(fc.nat(), fc.jsonValue()).map(([place, value]) => {
    let count = 0;
    const places = sample.match(/:/g)?.length ?? 1;
    return JSON.stringify(JSON.parse(sample, (_key, old: unknown) => (count++ === place % (places + 1) ? value : old)));
  });

function readKind(endpoint: Endpoint<unknown>, body: string): string {
  try {
    readAnswer(endpoint, { status: 200, headers: {}, cookies: [], body }, { isSession: false, nowMs: 0 });
    return 'answer';
  } catch (error) {
    return error instanceof ApiError ? error.kind : String(error);
  }
}

describe('api/execution-decoders', () => {
  it.each(samples)('reads any answer to $name, or says by a known kind why it cannot', (endpoint, sample) => {
    const body = fc.oneof(mutated(sample), fc.json(), fc.string(), nasty);
    const property = fc.property(body, (text) => {
      expect(['answer', ...errorKinds]).toContain(readKind(endpoint, text));
      expect(Object.keys(Object.prototype)).toEqual([]);
    });
    fc.assert(property, { numRuns: 400 });
  });

  it.each(samples)('reads a well-formed answer to $name', (endpoint, sample) => {
    expect(readKind(endpoint, sample)).toBe('answer');
  });
});
