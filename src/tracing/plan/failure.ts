import type { FirstCause } from '../../domain/failure-class.ts';
import { isFailure, toFailureClass } from '../../domain/failure-class.ts';
import type { SpanSource } from '../../domain/span-source.ts';
import { type Draft, hasFailed } from './draft.ts';

/** Returns why an execution failed; undefined for one that did not. */
export function toFailure(
  { execution, state, loggedReason }: SpanSource,
  steps: readonly Draft[],
): FirstCause | undefined {
  if (!isFailure(execution)) return undefined;
  const first = findFirst(steps, isFailedLeaf) ?? findFirst(steps, isHandled);
  const reason = first?.outcome.word ?? loggedReason;
  const failureClass = toFailureClass({
    ...execution,
    reason,
    isRead: state !== undefined,
    isStopped: steps.some(hasAborted),
  });
  return { failureClass, reason, exitCode: first?.outcome.exitCode, ...toPlace(first) };
}

function toPlace(first: Draft | undefined): Pick<FirstCause, 'node' | 'step' | 'context'> {
  if (first?.key.kind !== 'step' && first?.key.kind !== 'node') return {};
  const { path } = first.key;
  const name = first.task?.name ?? '';
  const step = name === '' || name === `step ${path}` ? path : `${path} (${name})`;
  return { node: first.task?.node, step, context: path };
}

/** Returns the one that ended first; of those that ended together the one that began first, then the first of the workflow. */
function findFirst(drafts: readonly Draft[], isWanted: (draft: Draft) => boolean): Draft | undefined {
  const found = drafts.flatMap((draft) => collect(draft, isWanted));
  return found.toSorted((one, other) => compare(one, other, 'endMs') || compare(one, other, 'startMs'))[0];
}

function collect(draft: Draft, isWanted: (draft: Draft) => boolean): readonly Draft[] {
  const below = draft.children.flatMap((child) => collect(child, isWanted));
  return isWanted(draft) ? [draft, ...below] : below;
}

/** A step that only passes on what failed below it is no cause. */
function isFailedLeaf(draft: Draft): boolean {
  return hasFailed(draft) && !draft.children.some(hasFailed);
}

/** In a run that failed, a step may have succeeded through its error handler. */
function isHandled({ outcome, task }: Draft): boolean {
  return outcome.word !== undefined && (outcome.isRecovered || task?.isHandler === true);
}

function hasAborted({ outcome, children }: Draft): boolean {
  return outcome.result === 'cancellation' || children.some(hasAborted);
}

/** A time that is not known comes last. */
function compare(one: Draft, other: Draft, time: 'endMs' | 'startMs'): number {
  return (one.timing[time] ?? Number.MAX_SAFE_INTEGER) - (other.timing[time] ?? Number.MAX_SAFE_INTEGER);
}
