import type { FirstCause } from '../../domain/failure-class.ts';
import { isFailure, toFailureClass, withoutParameters } from '../../domain/failure-class.ts';
import type { SpanSource } from '../../domain/span-source.ts';
import { type Draft, hasFailed, listByEnd, listFailedLeaves } from './draft.ts';
import { chooseReason, incomplete, timeout } from './failure-reason.ts';

/** Returns why an execution failed; undefined if it did not fail. */
export function toFailure(
  { execution, state, loggedReason }: SpanSource,
  steps: readonly Draft[],
): FirstCause | undefined {
  if (!isFailure(execution)) return undefined;
  // Earlier failures are not the cause if a limit or the server ended the run.
  const isCutOff = execution.status === 'timedout' || execution.customStatus === incomplete;
  const failed = isCutOff ? listUnfinished(steps).toReversed() : listFailedLeaves(steps);
  const first = failed[0] ?? (isCutOff ? undefined : listByEnd(steps, isHandled)[0]);
  // The step that the limit interrupted may have another reason.
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

/** Reports whether two contexts name the same step. With a workflow for each node, the contexts name the node: `2@node=db03/1`. */
function isSameStep(context: string | undefined, other: string): boolean {
  return context !== undefined && withoutParameters(context) === withoutParameters(other);
}

/** The maximum number of other nodes to list on which the same step failed. */
const maxOthers = 49;

function toPlace(first: Draft | undefined): Pick<FirstCause, 'node' | 'step' | 'context'> {
  if (first?.key.kind !== 'step' && first?.key.kind !== 'node') return {};
  const { path } = first.key;
  const name = first.task?.name ?? '';
  const step = name === '' || name === `step ${path}` ? path : `${path} (${name})`;
  return { node: first.task?.node, step, context: path };
}

/** Reports whether an error handler recovered a step of a failed run. The server keeps the failure reason of a recovered step. */
function isHandled({ outcome, task }: Draft): boolean {
  return (
    outcome.word !== undefined && (outcome.isRecovered || outcome.result === 'success' || task?.isHandler === true)
  );
}

/** Lists the steps that did not succeed. If a run was stopped, the last step of the run was in progress. */
function listUnfinished(steps: readonly Draft[]): readonly Draft[] {
  const isUnfinished = (draft: Draft): boolean =>
    hasFailed(draft) || draft.outcome.result === 'cancellation' || draft.outcome.errorType === incomplete;
  const isLeaf = (draft: Draft): boolean => isUnfinished(draft) && !draft.children.some(isUnfinished);
  return listByEnd(steps, isLeaf, ({ outcome }) => !outcome.isRecovered && outcome.result !== 'success');
}

function hasAborted({ outcome, children }: Draft): boolean {
  return outcome.result === 'cancellation' || children.some(hasAborted);
}
