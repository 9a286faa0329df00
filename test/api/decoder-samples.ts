import { readAnswer } from '../../src/api/answers/classify.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { systemRights } from '../../src/api/endpoints/authorizations.ts';
import { execution } from '../../src/api/endpoints/execution.ts';
import { executionOutput } from '../../src/api/endpoints/execution-output.ts';
import { executionState } from '../../src/api/endpoints/execution-state.ts';
import { projectExecutions } from '../../src/api/endpoints/executions.ts';
import { jobWorkflow } from '../../src/api/endpoints/job-workflow.ts';
import { logStorage } from '../../src/api/endpoints/log-storage.ts';
import { healthcheck } from '../../src/api/endpoints/metrics.ts';
import { executionMode, systemInfo } from '../../src/api/endpoints/system.ts';
import { ApiError } from '../../src/api/errors.ts';
import type { TransportAnswer } from '../../src/api/wire/transport.ts';

/** A well-formed response of each endpoint with large responses. */
export const samples: readonly (readonly [Endpoint<unknown>, string])[] = [
  [
    systemInfo,
    '{"system":{"timestamp":{"epoch":1716200000000,"unit":"ms"},"rundeck":{"version":"5.3.0","apiversion":"47"},"executions":{"active":true,"executionMode":"active"},"os":{"arch":"amd64","name":"Linux","version":"6"},"jvm":{"name":"J"},"stats":{"uptime":{"since":{"epoch":1716100000000}},"cpu":{"loadAverage":{"unit":"percent","average":0.5},"processors":4},"memory":{"unit":"byte","max":3,"free":1,"total":2},"scheduler":{"running":0,"threadPoolSize":10},"threads":{"active":30}}}}',
  ],
  [executionMode, '{"executionMode":"active"}'],
  [
    systemRights,
    '{"authorizationContext":{"type":"application"},"resource":{"kind":"system"},"actionAuthorizations":[{"actionName":"read","isAuthorized":true},{"actionName":"admin","isAuthorized":false}]}',
  ],
  [healthcheck, '{"dataSource.connection.time":{"healthy":true,"message":"ok"},"quartz":{"healthy":false}}'],
  [logStorage, '{"enabled":true,"pluginName":"s3","succeededCount":1,"failedCount":"2","queuedCount":null}'],
  [
    projectExecutions,
    '{"paging":{"count":1,"total":1},"executions":[{"id":1,"status":"failed","date-started":{"unixtime":1,"date":"x"},"date-ended":{"unixtime":2},"job":{"name":"n","group":null,"averageDuration":5},"failedNodes":["a"]}]}',
  ],
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

/** Returns `answer`, the kind of the error, or any other error that was thrown. */
export function readKind(
  endpoint: Endpoint<unknown>,
  answer: Partial<TransportAnswer>,
  { isSession = false, nowMs = 0 } = {},
): string {
  try {
    readAnswer(endpoint, { status: 200, headers: {}, cookies: [], body: '', ...answer }, { isSession, nowMs });
    return 'answer';
  } catch (error) {
    return error instanceof ApiError ? error.kind : String(error);
  }
}
