import { z } from 'zod';
import type { ExecutionState, NodeState, Progress, StepCondition, StepState } from '../../domain/step-state.ts';
import { toTimestampMs } from '../../domain/time.ts';
import { defineEndpoint, executionRead, largeListBytes } from '../endpoint.ts';
import { toFlag, toNumber, toText } from '../lenient.ts';

/** API reference, "Execution state". If a state is not loaded yet, servers return 200 and `{"error":"pending"}`. */
export const executionState = defineEndpoint({
  name: 'execution-state',
  path: 'execution/{id}/state',
  maxBytes: largeListBytes,
  since: 14,
  allowedBy: executionRead,
  body: z.unknown().transform((answer, context): ExecutionState | 'pending' => {
    const fields = toFields(answer);
    if (fields.error === 'pending') return 'pending';
    if (!Array.isArray(fields.steps)) {
      context.addIssue({ code: 'custom', message: 'is missing', path: ['steps'] });
      return z.NEVER;
    }
    return {
      ...toProgress(fields),
      isCompleted: toFlag(fields.completed),
      serverNode: toText(fields.serverNode),
      steps: toSteps(fields.steps, 1),
    };
  }),
});

type Fields = Readonly<Record<string, unknown>>;

const conditions: Readonly<Record<string, StepCondition>> = {
  WAITING: 'waiting',
  RUNNING: 'running',
  RUNNING_HANDLER: 'running-handler',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  ABORTED: 'aborted',
  NODE_PARTIAL_SUCCEEDED: 'partial',
  NODE_MIXED: 'mixed',
  NOT_STARTED: 'not-started',
  // Release 6 of the rundeck dialect: the conditions of the step were not met.
  SKIPPED: 'not-started',
};

/** Limits the recursion, because jobs that reference each other can nest to any depth. */
const deepest = 40;

/** Decodes steps without a schema, which would be too slow: a state may have tens of thousands of nodes. */
function toSteps(steps: readonly unknown[], depth: number): StepState[] {
  return depth > deepest ? [] : steps.map((step) => toStep(toFields(step), depth));
}

function toStep(step: Fields, depth: number): StepState {
  const below = toFields(step.workflow).steps;
  return {
    ...toProgress(step),
    context: toText(step.stepctx) ?? toText(step.id),
    isNodeStep: step.nodeStep === true || step.nodeStep === 'true',
    nodes: Object.entries(toFields(step.nodeStates)).map(([node, state]): NodeState => {
      return { ...toProgress(toFields(state)), node };
    }),
    workflow: Array.isArray(below) ? toSteps(below, depth + 1) : undefined,
    perNode: depth > deepest ? [] : toPerNode(step, depth),
  };
}

function toPerNode(step: Fields, depth: number): StepState[] {
  return Object.values(toFields(step.parameterStates)).map((state) => toStep(toFields(state), depth + 1));
}

function toProgress(fields: Fields): Progress {
  const meta = toFields(fields.meta);
  const word = toText(fields.executionState) ?? '';
  const durationMs = toNumber(fields.duration);
  const code = toNumber(meta.resultCode);
  const hasExited = code !== undefined && code > 0 && code !== unendedCode;
  return {
    condition: (Object.hasOwn(conditions, word) ? conditions[word] : undefined) ?? 'unknown',
    startedAtMs: toTimestampMs(fields.startTime),
    endedAtMs: toTimestampMs(fields.endTime),
    // −1 means that the step did not start.
    durationMs: durationMs !== undefined && durationMs >= 0 ? durationMs : undefined,
    failureReason: toReason(meta, toText(fields.errorMessage)),
    ...(hasExited ? { exitCode: code } : {}),
    ...(toText(meta.handlerTriggered) === 'true' ? { hadHandler: true } : {}),
  };
}

/**
 * Returns the reason of a failure. Servers report `Unknown` if a step fails without a reason; since release 4.16 the default SSH
 * executor does so for every failure. For `Unknown`, exit code (−1 if the command did not run) and message give the reason.
 */
function toReason(meta: Fields, message = ''): string | undefined {
  // The words of servers have no spaces. The text of a plugin may contain anything, including secrets.
  const [reason] = /^[\p{L}\p{N}_.-]{1,60}/u.exec(toText(meta.failureReason) ?? '') ?? [];
  const code = toNumber(meta.resultCode);
  if (code === unendedCode) return 'Interrupted';
  if (reason !== 'Unknown') return reason;
  if (isExitMessage(message) || (code !== undefined && code > 0)) return 'NonZeroResultCode';
  if (code !== -1) return undefined;
  return isLoginMessage(message) ? 'AuthenticationFailure' : 'ConnectionFailure';
}

/** The exit code of a command that the server stopped: timeout of the job or a referenced job, or limit of its log. */
export const unendedCode = 2_147_483_647;

/** Reports whether a message of the default SSH executor says that a key or a password was refused. */
export function isLoginMessage(message: string): boolean {
  return /\bauth(?:entication)?\b|permission denied|publickey/i.test(message);
}

/** Reports whether a message of the default SSH executor says that the command ran and failed. */
export function isExitMessage(message: string): boolean {
  return /^Remote command failed with exit status \d/.test(message);
}

function toFields(value: unknown): Fields {
  // This cast is safe: any object can be read by name, and absent names read as undefined.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
