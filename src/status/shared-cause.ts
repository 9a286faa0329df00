import type { CommonCause } from '../diagnosis/changes/deciding/common-cause.ts';
import { toCount } from '../domain/format.ts';

/** Describes what most failed jobs have in common, and how many that did not fail have it. */
export function toCauseTexts({ kind, subject, failed, covered, succeeded, spared }: CommonCause) {
  const jobs = `${covered} of the ${toCount(failed, 'job')} that failed in the last 15 min`;
  return {
    text: `${jobs} have one cause: ${subject === '' ? `a ${kind}` : `${kind} ${subject}`}`,
    detail: `${spared === 0 ? 'None' : spared} of the ${toCount(succeeded, 'job')} that succeeded ${spared > 1 ? 'have' : 'has'} it`,
  };
}
