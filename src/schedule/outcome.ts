import type { Endpoint } from '../api/endpoint.ts';
import { ApiError, type ErrorKind } from '../api/errors.ts';
import { toVerdict } from '../api/verdict.ts';
import type { OffReason } from './collector.ts';

/** The result of a poll: series, a fault, or the answer that the server has nothing to offer here. */
export type Outcome =
  | {
      readonly result: 'success';
      readonly series: number;
      /** The parts that were skipped. */
      readonly note?: string;
      /** Problems of the server that the answer reports. */
      readonly complaints?: readonly string[];
    }
  | { readonly result: 'failed'; readonly kind: ErrorKind | 'internal'; readonly message: string }
  | { readonly result: 'off'; readonly reason: OffReason; readonly message: string };

/** Turns a fault into the outcome of its poll. */
export function judge(fault: unknown, reads: readonly Endpoint<unknown>[]): Outcome {
  if (!(fault instanceof ApiError)) return { result: 'failed', kind: 'internal', message: String(fault) };
  const verdict = toVerdict(fault, reads);
  if (verdict === 'failed') return { result: 'failed', kind: fault.kind, message: fault.message };
  return { result: 'off', reason: verdict, message: fault.message };
}

/** Names the outcome by one word: a change of the word is worth reporting. */
export function toWord(outcome: Outcome): string {
  if (outcome.result === 'success') return 'success';
  return outcome.result === 'off' ? outcome.reason : outcome.kind;
}

/** The identity of a poll; a member is named where a cluster's members are watched one by one. */
export type PollKey = { readonly server: string; readonly member?: string; readonly collector: string };

/** The same text for the same poll; also for labels, which name no member of a server without any. */
export function toPollText({ server, member, collector }: Readonly<Partial<Record<string, string | number>>>): string {
  return JSON.stringify([server, member, collector]);
}
