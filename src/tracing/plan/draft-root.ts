import type { SpanSource } from '../../domain/span-source.ts';
import { type Draft, untimed } from './draft.ts';
import { draftSteps } from './draft-steps.ts';
import { type RootOutcome, toRootOutcome } from './root-outcome.ts';
import type { TraceSettings } from './settings.ts';
import { toStepNames } from './step-names.ts';

export type RootDraft = { readonly draft: Draft; readonly outcome: RootOutcome };

/** The execution as a tree of drafts: the wait for its start, and its steps. */
export function draftRoot(source: SpanSource, { customStatuses }: TraceSettings): RootDraft {
  const { execution, state, workflow } = source;
  const steps = state?.steps ?? [];
  const names = toStepNames(workflow, steps);
  const { drafts, notStarted } = draftSteps(steps, { path: '', names, serverNode: state?.serverNode });
  const wait = draftWait(execution.startedAtMs, findFirstStart(drafts));
  const outcome = toRootOutcome(source, drafts, customStatuses);
  const draft: Draft = {
    key: { kind: 'root' },
    name: '',
    task: undefined,
    outcome,
    timing: { ...untimed, startMs: execution.startedAtMs, endMs: execution.endedAtMs },
    children: wait === undefined ? drafts : [wait, ...drafts],
    notStarted,
  };
  return { draft, outcome };
}

const shortestWaitMs = 2000;

/** A delayed retry, or no free thread: the execution runs by its own account, and nothing happens yet. */
function draftWait(startedAtMs: number, firstStepMs: number | undefined): Draft | undefined {
  if (firstStepMs === undefined || firstStepMs - startedAtMs < shortestWaitMs) return undefined;
  return {
    key: { kind: 'wait', path: 'start' },
    name: 'start wait',
    task: undefined,
    outcome: {
      result: 'success',
      errorType: undefined,
      reason: undefined,
      isRecovered: false,
      why: 'no step began before',
    },
    timing: { ...untimed, startMs: startedAtMs, endMs: firstStepMs },
    children: [],
    notStarted: 0,
  };
}

function findFirstStart(drafts: readonly Draft[]): number | undefined {
  let first: number | undefined;
  for (const { timing, children } of drafts) {
    const startMs = timing.startMs ?? findFirstStart(children);
    if (startMs !== undefined && (first === undefined || startMs < first)) first = startMs;
  }
  return first;
}
