import { execution } from '../../api/endpoints/execution.ts';
import { executionState } from '../../api/endpoints/execution-state.ts';
import { jobWorkflow } from '../../api/endpoints/job-workflow.ts';
import type { SpanSource } from '../../domain/span-source.ts';
import { isWhole } from '../../domain/step-state.ts';

/**
 * An execution from the answers that a server gave: JSON with `execution`, and `state` and `workflow` where there are
 * any. It also holds what no single answer contains: `loggedReason`, `previousAttemptId`, `expectedAtMs`.
 */
export function readRecording(text: string): SpanSource {
  const recording = toFields(JSON.parse(text));
  const { state, workflow, loggedReason, previousAttemptId, expectedAtMs } = recording;
  const stateAnswer = isAbsent(state) ? undefined : executionState.body.parse(state);
  const { endedAtMs, ...rest } = execution.body.parse(recording.execution);
  const isPending =
    stateAnswer === 'pending' ||
    (stateAnswer !== undefined && endedAtMs !== undefined && !isWhole(stateAnswer, endedAtMs));
  return {
    execution: { ...rest, endedAtMs },
    state: stateAnswer === 'pending' ? undefined : stateAnswer,
    workflow: isAbsent(workflow) ? undefined : jobWorkflow.body.parse(workflow),
    loggedReason: typeof loggedReason === 'string' ? loggedReason : undefined,
    previousAttemptId: typeof previousAttemptId === 'number' ? previousAttemptId : undefined,
    expectedAtMs: typeof expectedAtMs === 'number' ? expectedAtMs : undefined,
    // A state that never came, or not all of it, is what the seal timeout is for.
    degraded: isPending ? 'seal_timeout' : undefined,
  };
}

function isAbsent(answer: unknown): boolean {
  return answer === undefined || answer === null;
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  // The cast is true: any object can be read by name, and absent names read as undefined.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
