import type { Endpoint } from '../api/endpoint.ts';
import { ApiError, type ErrorKind } from '../api/errors.ts';
import { toVerdict } from '../api/verdict.ts';
import type { OffReason } from './collector.ts';

/** The result of a poll: series, an error, or that the server has no values. */
export type Outcome =
  | {
      readonly result: 'success';
      readonly series: number;
      /** What was skipped. */
      readonly note?: string;
      /** Problems of the server that the answer reports. */
      readonly complaints?: readonly string[];
    }
  | { readonly result: 'failed'; readonly kind: ErrorKind | 'internal'; readonly message: string }
  | { readonly result: 'off'; readonly reason: OffReason; readonly message: string };

export function judge(fault: unknown, reads: readonly Endpoint<unknown>[]): Outcome {
  if (!(fault instanceof ApiError)) return { result: 'failed', kind: 'internal', message: String(fault) };
  const verdict = toVerdict(fault, reads);
  if (verdict === 'failed') return { result: 'failed', kind: fault.kind, message: fault.message };
  return { result: 'off', reason: verdict, message: fault.message };
}

/** Names the outcome by one word; a change of it is worth logging. */
export function toWord(outcome: Outcome): string {
  if (outcome.result === 'success') return 'success';
  return outcome.result === 'off' ? outcome.reason : outcome.kind;
}

/** The identity of a poll; with a member if those of a cluster are watched separately. */
export type PollKey = { readonly server: string; readonly member?: string; readonly collector: string };

/** Returns the same text for a poll and for its labels, which may lack the member. */
export function toPollText({ server, member, collector }: Readonly<Partial<Record<string, string | number>>>): string {
  return JSON.stringify([server, member, collector]);
}
