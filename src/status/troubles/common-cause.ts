import type { CommonCause } from '../../diagnosis/changes/deciding/common-cause.ts';
import { toCount } from '../../domain/format.ts';
import type { Trouble } from '../problem-kinds.ts';

/** Describes what most failed jobs have in common. */
export function findCauseTroubles(cause: CommonCause | undefined): readonly Trouble[] {
  if (cause === undefined) return [];
  const { kind, subject, failed, covered, succeeded, spared } = cause;
  const jobs = `${covered} of the ${toCount(failed, 'job')} that failed in the last 15 min`;
  return [
    {
      kind: 'common_cause',
      text: `${jobs} have one cause: ${subject === '' ? `a ${kind}` : `${kind} ${subject}`}`,
      detail: `${spared === 0 ? 'None' : spared} of the ${toCount(succeeded, 'job')} that succeeded ${spared > 1 ? 'have' : 'has'} it`,
    },
  ];
}
