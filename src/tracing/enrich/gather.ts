import type { Api } from '../../api/client.ts';
import { execution as executionEndpoint } from '../../api/endpoints/execution.ts';
import { executionOutput, type LogTail } from '../../api/endpoints/execution-output.ts';
import { executionState } from '../../api/endpoints/execution-state.ts';
import { jobWorkflow } from '../../api/endpoints/job-workflow.ts';
import { ApiError, isOfWholeServer } from '../../api/errors.ts';
import { isSameRun } from '../../domain/execution.ts';
import { isFailure, logLimit } from '../../domain/failure-class.ts';
import type { SpanSource, TracedExecution } from '../../domain/span-source.ts';
import { type ExecutionState, isWhole, type StepState, type WorkflowStep } from '../../domain/step-state.ts';
import type { Detail } from '../plan/detail.ts';
import { incomplete } from '../plan/failure-reason.ts';
import type { PendingTrace } from './pending.ts';

/** The parts of an execution that were found, and whether more parts may follow. */
type Gathered = { readonly source: SpanSource; readonly isPending: boolean };

type GatherOptions = {
  /** The detail of the traces. Only its parts are requested, and the steps of failures if `diagnosis` is on. */
  detail: Detail;
  isDiagnosed: boolean;
  /** True if failures of jobs are also diagnosed by their logs. */
  readsLogs: boolean;
  workflows: Workflows;
  /** True on the last try, which uses the parts that are available. */
  isLastTry: boolean;
};

/**
 * Requests all parts of a trace. Skips denied and missing parts. Throws other errors, so that the trace is tried again. On the
 * last try, also skips an endpoint that never responded.
 */
export async function gather(
  api: Api,
  pending: PendingTrace,
  { listed, ...options }: GatherOptions & { listed: TracedExecution | undefined },
): Promise<Gathered> {
  const bare = toBareExecution(pending);
  const found = listed ?? (await read(api.get(executionEndpoint, { path: { id: pending.id } }), options));
  // The id now belongs to another execution, so further requests would return parts of that execution.
  if (found !== undefined && found !== 'failed' && !isSameRun(pending, found)) {
    return { source: { execution: bare }, isPending: false };
  }
  const isOver = found !== undefined && found !== 'failed' && found.endedAtMs !== undefined;
  const { source, isPending } = await gatherSteps(api, isOver ? found : bare, options);
  return { source, isPending: isPending || found === 'failed' };
}

/** Requests the parts of a trace, except its execution. */
export async function gatherSteps(api: Api, execution: TracedExecution, options: GatherOptions): Promise<Gathered> {
  const { id } = execution;
  const { detail, isDiagnosed, isLastTry } = options;
  const isWanted = detail !== 'root' || (isDiagnosed && isFailure(execution));
  const missing = new Set<string>();
  const answer = isWanted ? await read(api.get(executionState, { path: { id } }), options, missing) : undefined;
  const isStatePending = answer !== undefined && !isFinal(answer, execution);
  if (isStatePending && !isLastTry) return { source: { execution }, isPending: true };
  const state = answer === 'pending' || answer === 'failed' ? undefined : answer;
  const jobId = execution.job?.id;
  const workflow =
    detail === 'root' || state === undefined || jobId === undefined
      ? undefined
      : await readWorkflow(api, jobId, { ...options, isFailed: isFailure(execution) });
  const isLogWanted = options.readsLogs && hasTellingLog(execution);
  const tail = isLogWanted || needsReason(execution, state) ? await readTail(api, id, options) : undefined;
  const isLogPending = tail !== undefined && (tail === 'failed' || tail.isPending);
  const isRead = tail !== undefined && tail !== 'failed' && !tail.isPending;
  const { failureReason, lines, count, bytes = 0 } = isRead ? tail : noTail;
  // A reason in the state is closer to the cause than the log is.
  const isTelling = needsReason(execution, state) || failureReason === logLimit;
  const loggedReason = isTelling ? failureReason : undefined;
  const log = isLogWanted ? lines : undefined;
  const cutLogBytes = count < tailLines ? undefined : bytes;
  const degraded = missing.has('too_large') ? ('too_large' as const) : undefined;
  const unread = missing.has('forbidden')
    ? ('denied' as const)
    : missing.has('not_found')
      ? ('gone' as const)
      : undefined;
  const source = { execution, state, workflow, loggedReason, log, cutLogBytes, degraded, unread };
  return { source, isPending: isStatePending || isLogPending };
}

function isFinal(answer: ExecutionState | 'pending' | 'failed', { endedAtMs, customStatus }: TracedExecution): boolean {
  if (answer === 'pending' || answer === 'failed') return false;
  // If an execution was cut off when its server ended, its state does not change any more.
  return endedAtMs === undefined || customStatus === incomplete || isWhole(answer, endedAtMs);
}

/** Builds an execution from the row of its round, without a request. The row is enough for a trace without steps. */
export function toBareExecution(pending: PendingTrace): TracedExecution {
  const { seenAtMs: _seen, epoch: _epoch, attempt, nextAttemptId, ...execution } = pending;
  return {
    ...execution,
    permalink: undefined,
    user: undefined,
    abortedBy: undefined,
    argstring: undefined,
    options: new Map(),
    serverUuid: undefined,
    retryAttempt: attempt,
    nextAttemptId,
  };
}

async function readWorkflow(
  api: Api,
  jobId: string,
  { isFailed, ...options }: GatherOptions & { isFailed: boolean },
): Promise<readonly WorkflowStep[] | undefined> {
  if (!(await api.supports(jobWorkflow))) return undefined;
  const ask = async (): Promise<Steps> => {
    const steps = await read(api.get(jobWorkflow, { path: { id: jobId } }), options);
    return steps === 'failed' ? undefined : steps;
  };
  return options.workflows.read(jobId, ask, isFailed ? failedForMs : knownForMs);
}

const noTail: Pick<LogTail, 'failureReason' | 'lines' | 'count' | 'bytes'> = {
  failureReason: undefined,
  lines: [],
  count: 0,
  bytes: undefined,
};

/** Reports whether the log of a failure may show its cause: not if the server or a limit ended the execution. */
function hasTellingLog(execution: TracedExecution): boolean {
  const { status, customStatus, job } = execution;
  return isFailure(execution) && job !== undefined && status !== 'timedout' && customStatus !== incomplete;
}

/** Reads the end of a log. A log that is not in the log storage is on one member only, which the next request may reach. */
async function readTail(api: Api, id: number, options: GatherOptions): Promise<LogTail | 'failed' | undefined> {
  const ask = () => read(api.get(executionOutput, { path: { id }, query: { lastlines: tailLines } }), options);
  const first = await ask();
  return typeof first === 'object' && first.isLost ? ask() : first;
}

/** A run may write many lines after its failure. */
const tailLines = 200;

function needsReason({ status }: TracedExecution, state: ExecutionState | undefined): boolean {
  return status === 'failed' && !(state?.steps ?? []).some(hasReason);
}

function hasReason({ nodes, workflow = [], perNode, ...step }: StepState): boolean {
  // A successful step may have the failure reason of an earlier attempt.
  if ([step, ...nodes].some((each) => each.condition === 'failed' && each.failureReason !== undefined)) return true;
  return workflow.some(hasReason) || perNode.some(hasReason);
}

/** A missing or denied part is final, and its kind is added to `missing`. A part that fails each time is final on the last try. */
async function read<Answer>(
  asked: Promise<Answer>,
  { isLastTry }: GatherOptions,
  missing?: Set<string>,
): Promise<Answer | 'failed' | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof ApiError) || isOfWholeServer(error)) throw error;
    if (finalKinds.includes(error.kind)) {
      missing?.add(error.kind);
      return undefined;
    }
    if (!isLastTry) throw error;
    return 'failed';
  }
}

const finalKinds: readonly string[] = ['not_found', 'forbidden', 'decode', 'rejected', 'too_large'];

type Steps = readonly WorkflowStep[] | undefined;

/** The workflows of jobs, stored for a while because most runs of a job have the same workflow. */
export type Workflows = {
  /** Requests a workflow, unless it was requested a short time ago. */
  readonly read: (jobId: string, ask: () => Promise<Steps>, maxAgeMs?: number) => Promise<Steps>;
};

export function createWorkflows(ticks: () => number): Workflows {
  const known = new Map<string, { steps: Steps; atTicks: number }>();
  return {
    read: async (jobId, ask, maxAgeMs = knownForMs) => {
      const found = known.get(jobId);
      const keptMs = found?.steps === undefined ? missingForMs : maxAgeMs;
      if (found !== undefined && ticks() - found.atTicks < keptMs) return found.steps;
      const steps = await ask();
      // Maps keep the order of insertion, so the first key is the oldest.
      known.delete(jobId);
      for (const oldest of known.keys()) {
        if (known.size < maxKnown) break;
        known.delete(oldest);
      }
      known.set(jobId, { steps, atTicks: ticks() });
      return steps;
    },
  };
}

const knownForMs = 600_000;
/** How long the workflow of a failed job is kept. The time is short, because jobs are often edited before they fail. */
const failedForMs = 30_000;
/** How long a missing workflow is remembered: only shortly, because jobs are also missing while their project is disabled. */
const missingForMs = 30_000;
const maxKnown = 500;
