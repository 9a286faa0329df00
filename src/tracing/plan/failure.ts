import type { FirstCause } from '../../domain/failure-class.ts';
import { isFailure, toFailureClass, withoutParameters } from '../../domain/failure-class.ts';
import type { SpanSource } from '../../domain/span-source.ts';
import { type Draft, listByEnd, listFailedLeaves } from './draft.ts';
import { chooseReason, timeout } from './failure-reason.ts';

/** Returns why an execution failed; undefined if it did not fail. */
export function toFailure(
  { execution, state, loggedReason }: SpanSource,
  steps: readonly Draft[],
): FirstCause | undefined {
  if (!isFailure(execution)) return undefined;
  const failed = listFailedLeaves(steps);
  const first = failed[0] ?? listByEnd(steps, isHandled)[0];
  // The step that the limit interrupted has a reason of its own.
  const reason = execution.status === 'timedout' ? timeout : chooseReason(first?.outcome.word, loggedReason);
  const failureClass = toFailureClass({
    ...execution,
    reason,
    isRead: state !== undefined,
    isStopped: steps.some(hasAborted),
  });
  return { failureClass, reason, exitCode: first?.outcome.exitCode, ...toPlace(first), others: listOthers(failed) };
}

function listOthers([first, ...failed]: readonly Draft[]): FirstCause['others'] {
  const { node, context } = toPlace(first);
  if (node === undefined || context === undefined) return [];
  const others = failed.map(toPlace).filter((other) => other.node !== undefined && isSameStep(other.context, context));
  return others.slice(0, maxOthers).map((other) => ({ node: other.node, context: other.context }));
}

/** Compares steps. If a workflow runs for each node separately, its steps name the node: `2@node=db03/1`. */
function isSameStep(context: string | undefined, other: string): boolean {
  return context !== undefined && withoutParameters(context) === withoutParameters(other);
}

/** No more lines of a failure are stored. */
const maxOthers = 49;

function toPlace(first: Draft | undefined): Pick<FirstCause, 'node' | 'step' | 'context'> {
  if (first?.key.kind !== 'step' && first?.key.kind !== 'node') return {};
  const { path } = first.key;
  const name = first.task?.name ?? '';
  const step = name === '' || name === `step ${path}` ? path : `${path} (${name})`;
  return { node: first.task?.node, step, context: path };
}

/** Reports whether a step of a failed run succeeded through its error handler. A server keeps the reason of its failure. */
function isHandled({ outcome, task }: Draft): boolean {
  return (
    outcome.word !== undefined && (outcome.isRecovered || outcome.result === 'success' || task?.isHandler === true)
  );
}

function hasAborted({ outcome, children }: Draft): boolean {
  return outcome.result === 'cancellation' || children.some(hasAborted);
}
