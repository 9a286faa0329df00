import type { Progress } from '../../domain/step-state.ts';
import { type Draft, findReason, hasFailed, hasFailedNode, type Outcome } from './draft.ts';
import { incomplete, nodeFailure, otherError, toErrorType } from './failure-reason.ts';

/** How a step or a node ended, once it is known how everything below it did. */
export function toStepOutcome(progress: Progress, below: readonly Draft[], isRecovered: boolean): Outcome {
  const plain = { errorType: undefined, reason: undefined, isRecovered: false };
  switch (progress.condition) {
    case 'succeeded':
      return { ...plain, result: 'success', why: 'succeeded' };
    case 'aborted':
      return { ...plain, result: 'cancellation', why: 'aborted' };
    case 'failed':
      return toFailure(progress.failureReason, below, { isRecovered, word: 'failed' });
    case 'partial':
    case 'mixed': {
      const { condition } = progress;
      // Recorded runs show both inside executions that succeeded.
      if (below.some(hasFailed))
        return toFailure(undefined, below, { isRecovered, word: `${condition}, failed below` });
      return { ...plain, result: 'success', why: `${condition}, nothing below it failed for good` };
    }
    case 'running':
    case 'running-handler':
      return { ...plain, result: 'error', errorType: incomplete, why: 'still running when the execution was over' };
    case 'unknown':
    case 'waiting':
    case 'not-started':
      return { ...plain, result: 'error', errorType: otherError, why: 'its state has a word that is not known' };
  }
}

function toFailure(
  given: string | undefined,
  below: readonly Draft[],
  { isRecovered, word }: { readonly isRecovered: boolean; readonly word: string },
): Outcome {
  const reason = toErrorType(given);
  const errorType = reason ?? findReason(below) ?? (hasFailedNode(below) ? nodeFailure : otherError);
  const from = reason !== undefined ? errorType : below.some(hasFailed) ? `${errorType} below` : 'no reason given';
  const recovered = isRecovered ? ', recovered by its handler' : '';
  return { result: 'failure', errorType, reason, isRecovered, why: `${word}, ${from}${recovered}` };
}
