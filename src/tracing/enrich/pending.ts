import type { Execution } from '../../domain/execution.ts';
import type { LedgerDocument } from '../../state/ledger.ts';
import { isSoundAttempt } from './attempts.ts';
import { isSoundCause } from './causes.ts';

/** A counted execution whose trace has not been made yet: enough of it for a trace without steps. */
export type PendingTrace = Execution & {
  readonly project: string;
  readonly endedAtMs: number;
  /** The number of times that the server's ids had started when it was counted, from 1 on: its trace may be made much later. */
  readonly epoch: number;
  /** Our clock when it was counted. */
  readonly seenAtMs: number;
};

const kind = 'pending-trace';

export function toPendingDocument(pending: PendingTrace): LedgerDocument {
  return { kind, key: toPendingKey(pending), body: JSON.stringify(pending) };
}

/** Returns the document that forgets it, in the change that spools its trace. */
export function toForgetting(pending: PendingTrace): LedgerDocument {
  return { kind, key: toPendingKey(pending), body: undefined };
}

export function readPending(documents: readonly LedgerDocument[]): PendingTrace[] {
  // The cast is true: only the function above writes these documents.
  return documents.flatMap(({ kind: found, body = '' }) => (found === kind ? [JSON.parse(body) as PendingTrace] : []));
}

/** Reports whether a row that is kept for traces has what they are made from; documents of other kinds are not ours to judge. */
export function isSoundPending(found: string, body: unknown): boolean {
  if (found !== kind) return isSoundAttempt(found, body) && isSoundCause(found, body);
  // The cast is true: any object has fields of unknown values.
  const { id, project, startedAtMs, endedAtMs, seenAtMs, failedNodes } = (body ?? {}) as Readonly<
    Record<string, unknown>
  >;
  // JSON has null where a time was infinite.
  const areTimes = [startedAtMs, endedAtMs, seenAtMs].every((value) => value === null || typeof value === 'number');
  return areTimes && typeof id === 'number' && typeof project === 'string' && Array.isArray(failedNodes);
}

export function toPendingKey({ id, startedAtMs }: Pick<PendingTrace, 'id' | 'startedAtMs'>): string {
  return `${startedAtMs} ${id}`;
}
