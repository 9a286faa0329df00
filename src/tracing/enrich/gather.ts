import type { Api } from '../../api/client.ts';
import { execution as executionEndpoint } from '../../api/endpoints/execution.ts';
import { executionOutput } from '../../api/endpoints/execution-output.ts';
import { executionState } from '../../api/endpoints/execution-state.ts';
import { jobWorkflow } from '../../api/endpoints/job-workflow.ts';
import { ApiError } from '../../api/errors.ts';
import { isSameRun } from '../../domain/same-run.ts';
import type { SpanSource, TracedExecution } from '../../domain/span-source.ts';
import type { ExecutionState, StepState } from '../../domain/step-state.ts';
import type { WorkflowStep } from '../../domain/workflow.ts';
import type { Detail } from '../detail.ts';
import type { PendingTrace } from './pending.ts';
import type { Workflows } from './workflows.ts';

/** What was found of an execution, or that its state is still on its way. */
export type Gathered = { readonly source: SpanSource; readonly isPending: boolean };

type GatherOptions = {
  /** What is not going to be shown is not asked for. */
  readonly detail: Detail;
  readonly workflows: Workflows;
};

/** Asks for all that a trace is made of. What is denied or gone is left out; what fails is thrown, to be tried again. */
export async function gather(api: Api, pending: PendingTrace, options: GatherOptions): Promise<Gathered> {
  const bare = toBareExecution(pending);
  const found = await read(api.get(executionEndpoint, { path: { id: pending.id } }));
  // Another has its id by now, and what else could be asked is about that one.
  if (found !== undefined && !isSameRun(pending, found)) return { source: { execution: bare }, isPending: false };
  return gatherSteps(api, found?.endedAtMs === undefined ? bare : found, options);
}

/** Asks for what a trace is made of beside its execution. */
export async function gatherSteps(
  api: Api,
  execution: TracedExecution,
  { detail, workflows }: GatherOptions,
): Promise<Gathered> {
  const { id } = execution;
  const hasSteps = detail !== 'root';
  const state = hasSteps ? await read(api.get(executionState, { path: { id } })) : undefined;
  if (state === 'pending') return { source: { execution }, isPending: true };
  const jobId = execution.job?.id;
  const workflow = state === undefined || jobId === undefined ? undefined : await readWorkflow(api, jobId, workflows);
  const loggedReason = needsReason(execution, state) ? await readReason(api, id) : undefined;
  return { source: { execution, state, workflow, loggedReason }, isPending: false };
}

/** What the rounds know of it, without a question: all that a trace without steps needs. */
export function toBareExecution(pending: PendingTrace): TracedExecution {
  const { seenAtMs: _seen, epoch: _epoch, ...execution } = pending;
  return {
    ...execution,
    permalink: undefined,
    user: undefined,
    abortedBy: undefined,
    argstring: undefined,
    options: new Map(),
    serverUuid: undefined,
    retryAttempt: undefined,
    nextAttemptId: undefined,
  };
}

async function readWorkflow(
  api: Api,
  jobId: string,
  workflows: Workflows,
): Promise<readonly WorkflowStep[] | undefined> {
  if (!(await api.supports(jobWorkflow))) return undefined;
  return workflows.read(jobId, () => read(api.get(jobWorkflow, { path: { id: jobId } })));
}

/** The end of a failure's log, where its state tells of no reason. */
async function readReason(api: Api, id: number): Promise<string | undefined> {
  const tail = await read(api.get(executionOutput, { path: { id }, query: { lastlines: tailLines } }));
  return tail?.failureReason;
}

const tailLines = 20;

function needsReason({ status }: TracedExecution, state: ExecutionState | undefined): boolean {
  return status === 'failed' && !(state?.steps ?? []).some(hasReason);
}

function hasReason({ nodes, workflow = [], perNode, ...step }: StepState): boolean {
  // What succeeded keeps the reason of an attempt before.
  if ([step, ...nodes].some((each) => each.condition === 'failed' && each.failureReason !== undefined)) return true;
  return workflow.some(hasReason) || perNode.some(hasReason);
}

/** An answer that there is nothing, or nothing for us, is final. */
async function read<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    const isFinal = error instanceof ApiError && finalKinds.includes(error.kind);
    if (!isFinal) throw error;
    return undefined;
  }
}

const finalKinds: readonly string[] = ['not_found', 'forbidden', 'decode', 'rejected', 'too_large'];
