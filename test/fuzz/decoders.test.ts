import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/api/answers/classify.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { executionState } from '../../src/api/endpoints/execution-state.ts';
import { projectExecutions } from '../../src/api/endpoints/executions.ts';
import { logStorage } from '../../src/api/endpoints/log-storage.ts';
import { healthcheck } from '../../src/api/endpoints/metrics.ts';
import { systemInfo } from '../../src/api/endpoints/system.ts';
import { ApiError, errorKinds } from '../../src/api/errors.ts';
import { fc } from '../support/property.ts';
import { forAsLong, limitMs, mutated } from './budget.ts';

const samples: readonly (readonly [Endpoint<unknown>, string])[] = [
  [
    systemInfo,
    '{"system":{"timestamp":{"epoch":1716200000000,"unit":"ms"},"rundeck":{"version":"5.3.0","apiversion":"47"},"executions":{"active":true,"executionMode":"active"},"os":{"arch":"amd64","name":"Linux","version":"6"},"jvm":{"name":"J"},"stats":{"uptime":{"since":{"epoch":1716100000000}},"cpu":{"loadAverage":{"unit":"percent","average":0.5},"processors":4},"memory":{"unit":"byte","max":3,"free":1,"total":2},"scheduler":{"running":0,"threadPoolSize":10},"threads":{"active":30}}}}',
  ],
  [healthcheck, '{"dataSource.connection.time":{"healthy":true,"message":"ok"},"quartz":{"healthy":false}}'],
  [logStorage, '{"enabled":true,"pluginName":"s3","succeededCount":1,"failedCount":"2","queuedCount":null}'],
  [
    projectExecutions,
    '{"paging":{"count":1,"total":1},"executions":[{"id":1,"status":"failed","date-started":{"unixtime":1,"date":"x"},"date-ended":{"unixtime":2},"job":{"name":"n","group":null,"averageDuration":5},"failedNodes":["a"]}]}',
  ],
  [
    executionState,
    '{"executionState":"FAILED","completed":true,"startTime":"2024-05-20T10:13:20Z","endTime":"2024-05-20T10:13:21Z","allNodes":["a"],"steps":[{"id":"1","stepctx":"1","nodeStep":true,"executionState":"FAILED","nodeStates":{"a":{"executionState":"FAILED","startTime":"2024-05-20T10:13:20Z","endTime":null}}}]}',
  ],
];

const inserts = [
  'null',
  '"',
  '{',
  '}',
  '[',
  ']',
  '-1',
  '1e999',
  '9e15',
  '"__proto__":',
  ',',
  '\\u0000',
  'NaN',
] as const;

describe('fuzz/decoders', () => {
  it.each(samples.map(([endpoint, sample]) => ({ name: endpoint.name, endpoint, sample })))(
    'reads $name, or says by a known kind why not, whatever becomes of an answer',
    async ({ endpoint, sample }) => {
      await forAsLong((parameters) =>
        fc.assert(
          fc.property(mutated([sample], inserts), (body) => {
            expect(['an answer', ...errorKinds]).toContain(readKind(endpoint, body));
          }),
          parameters,
        ),
      );
    },
    limitMs,
  );
});

function readKind(endpoint: Endpoint<unknown>, body: string): string {
  try {
    readAnswer(endpoint, { status: 200, headers: {}, cookies: [], body }, { isSession: false, nowMs: 0 });
    return 'an answer';
  } catch (error) {
    return error instanceof ApiError ? error.kind : String(error);
  }
}
