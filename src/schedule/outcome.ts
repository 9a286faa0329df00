import type { Endpoint } from '../api/endpoint.ts';
import { ApiError, type ErrorKind } from '../api/errors.ts';
import { toVerdict } from '../api/verdict.ts';
import type { OffReason } from '../collectors/collector.ts';

/** How a poll ended: with series, with a fault, or with the answer that there is nothing to get here. */
export type Outcome =
  | {
      readonly result: 'success';
      readonly series: number;
      /** What was left out. */
      readonly note?: string;
      /** What is not well with the server, as the answer tells. */
      readonly complaints?: readonly string[];
    }
  | { readonly result: 'failed'; readonly kind: ErrorKind | 'internal'; readonly message: string }
  | { readonly result: 'off'; readonly reason: OffReason; readonly message: string };

/** What a fault makes of a poll. */
export function judge(fault: unknown, reads: readonly Endpoint<unknown>[]): Outcome {
  if (!(fault instanceof ApiError)) return { result: 'failed', kind: 'internal', message: String(fault) };
  const verdict = toVerdict(fault, reads);
  if (verdict === 'failed') return { result: 'failed', kind: fault.kind, message: fault.message };
  return { result: 'off', reason: verdict, message: fault.message };
}

/** The outcome in a word: two with the same word are no news. */
export function toWord(outcome: Outcome): string {
  if (outcome.result === 'success') return 'success';
  return outcome.result === 'off' ? outcome.reason : outcome.kind;
}
