import type { Execution, Finished } from '../../src/domain/execution.ts';

/** A run of `nightly/settle` that took five seconds, with the fields that a test changes. */
export function someRun(fields: Partial<Finished> = {}): Finished {
  return {
    id: 1,
    status: 'succeeded',
    customStatus: undefined,
    project: 'pay',
    startedAtMs: 100_000,
    endedAtMs: 105_000,
    job: { id: 'a-1', name: 'settle', group: 'nightly', averageDurationMs: undefined },
    isJobDeleted: false,
    type: 'user',
    succeededNodes: 0,
    failedNodes: [],
    ...fields,
  };
}

export function someRunning(fields: Partial<Execution> = {}): Execution {
  return { ...someRun(), status: 'running', endedAtMs: undefined, ...fields };
}

/** The fields that only the trace of an execution needs, each without a value. */
export const untracedFields = {
  permalink: undefined,
  user: undefined,
  abortedBy: undefined,
  argstring: undefined,
  options: new Map<string, string>(),
  serverUuid: undefined,
  retryAttempt: undefined,
  nextAttemptId: undefined,
};
