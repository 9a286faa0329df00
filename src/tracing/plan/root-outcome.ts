import type { SpanSource } from '../../domain/span-source.ts';
import { otherError, type Result } from './attribute-names.ts';
import { type Draft, findReason, hasFailedNode, type Outcome } from './draft.ts';
import { chooseReason, incomplete, nodeFailure, timeout, toErrorType, toReasonText } from './failure-reason.ts';

export type RootOutcome = Outcome & { readonly isUnknown: boolean };

/** Computes the outcome of an execution from its status. The steps only give the reason. */
export function toRootOutcome(
  source: SpanSource,
  below: readonly Draft[],
  customStatuses: Readonly<Record<string, Result>>,
): RootOutcome {
  const { execution } = source;
  switch (execution.status) {
    case 'succeeded':
      return plain('success', 'the execution succeeded');
    case 'aborted':
      return plain('cancellation', 'the execution was aborted');
    case 'timedout':
      return { ...plain('timeout', 'the execution timed out'), errorType: timeout };
    case 'failed':
      return toFailure(source, below, 'the execution failed');
    case 'failed-with-retry':
      return toFailure(source, below, 'the execution failed and is retried');
    case 'scheduled':
      // A finished one-time run may still have the status `scheduled`; then the results of its nodes decide.
      if (execution.failedNodes.length > 0) return toFailure(source, below, 'the one-time run ended with failed nodes');
      if (execution.succeededNodes > 0) return plain('success', 'the one-time run ended without failed nodes');
      return unknown('a one-time run ended without a status and without nodes');
    case 'other':
      return toCustom(source, below, customStatuses);
    case 'running':
    case 'queued':
    case 'missed':
      return unknown('the execution ended, but its status is not final');
  }
}

function toCustom(
  source: SpanSource,
  below: readonly Draft[],
  customStatuses: Readonly<Record<string, Result>>,
): RootOutcome {
  const { customStatus } = source.execution;
  if (customStatus === undefined || customStatus === '') return unknown('the status of the execution is unknown');
  if (customStatus === incomplete) {
    return { ...plain('error', 'the execution was cut off'), errorType: incomplete };
  }
  const mapped = Object.hasOwn(customStatuses, customStatus) ? customStatuses[customStatus] : undefined;
  const result = mapped ?? 'failure';
  const why = `the execution ended with a custom status${mapped === undefined ? '' : `, which stands for ${mapped}`}`;
  switch (result) {
    case 'success':
    case 'cancellation':
    case 'skip':
      return plain(result, why);
    case 'timeout':
      return { ...plain(result, why), errorType: timeout };
    case 'error':
      return { ...plain(result, why), errorType: otherError };
    case 'failure':
      return toFailure(source, below, why);
  }
}

function toFailure(
  { execution, state, loggedReason, unread }: SpanSource,
  below: readonly Draft[],
  why: string,
): RootOutcome {
  const found = findReason(below);
  const logged = toErrorType(loggedReason);
  const reason = chooseReason(found, logged);
  const withNodes = execution.failedNodes.length > 0 || hasFailedNode(below);
  const errorType = reason ?? (withNodes ? nodeFailure : otherError);
  const first = `${why}: first failure ${toReasonText(errorType)}`;
  const silence = withNodes ? 'nodes failed and gave no reason' : 'nothing gives a reason';
  const without = `${why}; ${state === undefined ? unreadBecause[unread ?? 'late'] : silence}`;
  const said =
    found !== undefined && found === reason
      ? first
      : logged !== undefined
        ? `${why}; the log gives ${toReasonText(logged)}`
        : without;
  return { ...plain('failure', said), errorType, reason };
}

const unreadBecause = {
  denied: 'the token cannot read the steps',
  gone: 'the server does not have the steps',
  late: 'the steps were not read',
} as const;

function plain(result: Result, why: string): RootOutcome {
  return { result, why, errorType: undefined, reason: undefined, isRecovered: false, isUnknown: false };
}

function unknown(why: string): RootOutcome {
  return { ...plain('error', why), errorType: otherError, isUnknown: true };
}
