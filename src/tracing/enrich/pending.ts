import type { Execution } from '../../domain/execution.ts';
import type { LedgerDocument } from '../../state/ledger.ts';
import { isSoundAttempt } from './attempts.ts';
import { isSoundCause } from './causes.ts';
import { isSoundStepDurations } from './step-durations.ts';

/** A counted execution without a trace, with enough data for a trace without steps. */
export type PendingTrace = Execution & {
  readonly project: string;
  readonly endedAtMs: number;
  /** The epoch in which it was counted, because its trace may be made much later. */
  readonly epoch: number;
  /** The exporter's clock when it was counted. */
  readonly seenAtMs: number;
};

const kind = 'pending-trace';

export function toPendingDocument(pending: PendingTrace): LedgerDocument {
  return { kind, key: toPendingKey(pending), body: JSON.stringify(pending) };
}

/** Returns the document that removes a pending trace, for the change that puts its trace into the spool. */
export function toForgetting(pending: PendingTrace): LedgerDocument {
  return { kind, key: toPendingKey(pending), body: undefined };
}

export function readPending(documents: readonly LedgerDocument[]): PendingTrace[] {
  // This cast is safe: only the function above writes these documents.
  return documents.flatMap(({ kind: found, body = '' }) => (found === kind ? [JSON.parse(body) as PendingTrace] : []));
}

/** Reports whether a stored row can become a trace; true for documents of other kinds. */
export function isSoundPending(found: string, body: unknown): boolean {
  if (found !== kind)
    return isSoundAttempt(found, body) && isSoundCause(found, body) && isSoundStepDurations(found, body);
  // This cast is safe: any object has fields of unknown values.
  const { id, project, startedAtMs, endedAtMs, seenAtMs, failedNodes } = (body ?? {}) as Readonly<
    Record<string, unknown>
  >;
  // JSON has null for an infinite time.
  const areTimes = [startedAtMs, endedAtMs, seenAtMs].every((value) => value === null || typeof value === 'number');
  return areTimes && typeof id === 'number' && typeof project === 'string' && Array.isArray(failedNodes);
}

export function toPendingKey({ id, startedAtMs }: Pick<PendingTrace, 'id' | 'startedAtMs'>): string {
  return `${startedAtMs} ${id}`;
}
