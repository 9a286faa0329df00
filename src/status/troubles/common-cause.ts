import type { CommonCause } from '../../diagnosis/changes/deciding/common-cause.ts';
import type { Trouble } from '../problem-kinds.ts';
import { toCauseTexts } from '../shared-cause.ts';

/** Describes the cause that most failed jobs share. */
export function findCauseTroubles(cause: CommonCause | undefined): readonly Trouble[] {
  if (cause === undefined) return [];
  return [{ kind: 'common_cause', ...toCauseTexts(cause) }];
}
