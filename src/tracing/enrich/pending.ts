import type { Execution } from '../../domain/execution.ts';
import type { LedgerDocument } from '../../state/ledger.ts';
import { isSoundAttempt } from './attempts.ts';
import { isSoundCause } from './causes.ts';
import { isSoundStepDurations } from './step-durations.ts';

/** A counted execution without a trace, with enough data for a trace without steps. */
export type PendingTrace = Execution & {
  readonly project: string;
  readonly endedAtMs: number;
  /** The epoch at the time of counting. */
  readonly epoch: number;
  /** The time of the exporter's clock when the execution was counted. */
  readonly seenAtMs: number;
};

const kind = 'pending-trace';

export function toPendingDocument(pending: PendingTrace): LedgerDocument {
  return { kind, key: toPendingKey(pending), body: JSON.stringify(pending) };
}

/** Returns the document that removes a pending trace, for the change that adds the trace to the spool. */
export function toForgetting(pending: PendingTrace): LedgerDocument {
  return { kind, key: toPendingKey(pending), body: undefined };
}

export function readPending(documents: readonly LedgerDocument[]): PendingTrace[] {
  // The cast is safe, because no other code writes such documents.
  return documents.flatMap(({ kind: found, body = '' }) => (found === kind ? [JSON.parse(body) as PendingTrace] : []));
}

/** Reports whether a stored document can become a trace. Returns true for documents of other kinds. */
export function isSoundPending(found: string, body: unknown): boolean {
  if (found !== kind)
    return isSoundAttempt(found, body) && isSoundCause(found, body) && isSoundStepDurations(found, body);
  // This cast is safe: any object can be read as a record of unknown values.
  const { id, project, startedAtMs, endedAtMs, seenAtMs, failedNodes } = (body ?? {}) as Readonly<
    Record<string, unknown>
  >;
  // JSON stores an infinite time as null.
  const areTimes = [startedAtMs, endedAtMs, seenAtMs].every((value) => value === null || typeof value === 'number');
  return areTimes && typeof id === 'number' && typeof project === 'string' && Array.isArray(failedNodes);
}

export function toPendingKey({ id, startedAtMs }: Pick<PendingTrace, 'id' | 'startedAtMs'>): string {
  return `${startedAtMs} ${id}`;
}
