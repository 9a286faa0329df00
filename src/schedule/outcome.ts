import type { Endpoint } from '../api/endpoint.ts';
import { ApiError, type ErrorKind, isUnaskable } from '../api/errors.ts';
import { toVerdict } from '../api/verdict.ts';
import type { OffReason } from './collector.ts';

/** The result of a poll: series, an error, or no values. */
export type Outcome =
  | {
      readonly result: 'success';
      readonly series: number;
      readonly note?: string;
      /** Problems of the server according to the response. */
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

/** Returns one word for the outcome. A change of the word is logged. */
export function toWord(outcome: Outcome): string {
  if (outcome.result === 'success') return 'success';
  return outcome.result === 'off' ? outcome.reason : outcome.kind;
}

/** The identity of a poll; with a member if cluster members are watched separately. */
export type PollKey = { readonly server: string; readonly member?: string; readonly collector: string };

/** Returns the same text for a poll and for its labels, which may lack the member. */
export function toPollText({ server, member, collector }: Readonly<Partial<Record<string, string | number>>>): string {
  return JSON.stringify([server, member, collector]);
}

export type Fault = { readonly kind: ErrorKind | 'internal'; readonly message: string };

export function toFault(error: Error): Fault {
  if (error instanceof ApiError) return { kind: error.kind, message: error.message };
  return { kind: 'internal', message: String(error) };
}

/** Returns which projects an error affects: all, or one that was deleted, cannot be read, or failed. */
export function judgeFault(error: Error, reads: readonly Endpoint<unknown>[]): 'all' | 'gone' | 'denied' | 'failed' {
  if (!(error instanceof ApiError)) return 'failed';
  const { kind, details } = error;
  if (kind === 'not_found' && details.errorCode?.startsWith('api.error.project.') === true) return 'gone';
  if (kind === 'unauthorized') return 'all';
  if (isUnaskable(error)) return 'denied';
  if (details.unsent === true) return 'all';
  const verdict = toVerdict(error, reads);
  return verdict === 'version' || verdict === 'not_found' ? 'all' : verdict;
}

/** Reports whether the server did not respond. After several such errors in a row, the next request will fail too. */
export function isSilence(error: Error): boolean {
  if (!(error instanceof ApiError)) return false;
  const { kind, details } = error;
  if (kind === 'server') return details.status !== 500 && details.status !== 501;
  return silentKinds.includes(kind);
}

const silentKinds: readonly ErrorKind[] = ['network', 'tls', 'timeout', 'busy', 'html', 'redirect', 'empty'];

type Ended = { read: number; denied: readonly Fault[]; failed: readonly Fault[]; projects: number; series: number };

/** Computes the outcome of a complete pass. A failed project is reported, although only the series of the project are late. */
export function toOutcome({ read, denied, failed, projects, series }: Ended): Outcome {
  const [firstDenied] = denied;
  const [firstFailed] = failed;
  if (firstFailed !== undefined) {
    const message = `${failed.length} of ${projects} projects failed; the first: ${firstFailed.message}`;
    return { result: 'failed', kind: firstFailed.kind, message };
  }
  if (firstDenied === undefined) return { result: 'success', series };
  if (read === 0) return { result: 'off', reason: 'denied', message: firstDenied.message };
  const why = firstDenied.kind === 'rejected' ? `cannot be read; the first: ${firstDenied.message}` : 'are denied';
  return { result: 'success', series, note: `${denied.length} of ${projects} projects ${why}` };
}
