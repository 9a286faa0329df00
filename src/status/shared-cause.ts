import type { CommonCause } from '../diagnosis/changes/deciding/common-cause.ts';
import { toCount } from '../domain/format.ts';
import type { Trouble } from './problem-kinds.ts';

/** Describes the common cause of failed jobs, and the number of successful jobs that share it. */
export function toCauseTexts({ kind, subject, failed, covered, succeeded, spared }: CommonCause) {
  return {
    text: `${covered} of ${failed} failed jobs share ${subject === '' ? `a ${kind}` : `${kind} ${subject}`}`,
    detail: `In the last 15 min; ${spared === 0 ? 'none' : spared} of the ${toCount(succeeded, 'successful job')} ${spared > 1 ? 'share' : 'shares'} it`,
  };
}

export function findCauseTroubles(cause: CommonCause | undefined): readonly Trouble[] {
  return cause === undefined ? [] : [{ kind: 'common_cause', ...toCauseTexts(cause) }];
}
