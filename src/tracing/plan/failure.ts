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
  const failed = findAll(steps, isFailedLeaf);
  const first = failed[0] ?? findAll(steps, isHandled)[0];
  const reason = first?.outcome.word ?? loggedReason;
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

/** Steps of a workflow that runs for each node apart name the node: `2@node=db03/1`. */
function isSameStep(context: string | undefined, other: string): boolean {
  return context?.replaceAll(/@[^/]*/g, '') === other.replaceAll(/@[^/]*/g, '');
}

/** No more lines of a failure are kept. */
const maxOthers = 49;

function toPlace(first: Draft | undefined): Pick<FirstCause, 'node' | 'step' | 'context'> {
  if (first?.key.kind !== 'step' && first?.key.kind !== 'node') return {};
  const { path } = first.key;
  const name = first.task?.name ?? '';
  const step = name === '' || name === `step ${path}` ? path : `${path} (${name})`;
  return { node: first.task?.node, step, context: path };
}

/** Sorts by the end; those that ended together by the begin, then as in the workflow. */
function findAll(drafts: readonly Draft[], isWanted: (draft: Draft) => boolean): readonly Draft[] {
  const found = drafts.flatMap((draft) => collect(draft, isWanted));
  return found.toSorted((one, other) => compare(one, other, 'endMs') || compare(one, other, 'startMs'));
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
