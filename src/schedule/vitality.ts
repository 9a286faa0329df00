import { ApiError } from '../api/errors.ts';
import { isAuthenticatedAnswer } from '../api/verdict.ts';
import type { Self } from '../metrics/self.ts';

/** Told of the end of each vital poll of one server, without a fault or with it. */
export type Vitality = (fault?: unknown) => void;

/** Whether a server is up and takes the credentials, as its vital polls see it. */
export function createVitality(
  self: Pick<Self, 'up' | 'credentialsAccepted'>,
  key: { readonly server: string; readonly member?: string },
): Vitality {
  let isRefused = false;
  return (fault) => {
    // A fault of our own says nothing about the server, nor does a question that its version has no place for.
    if (fault !== undefined && !(fault instanceof ApiError)) return;
    if (fault?.kind === 'unsupported_version' && fault.details.status === undefined) return;
    const isAuthenticated = fault === undefined || isAuthenticatedAnswer(fault);
    self.up.set(key, Number(isAuthenticated));
    if (isAuthenticated) {
      self.credentialsAccepted.set(key, 1);
      isRefused = false;
    } else if (fault.kind === 'unauthorized') {
      self.credentialsAccepted.set(key, 0);
      isRefused = true;
    } else if (isRefused && fault.details.status === undefined) {
      // It no longer answers that they are refused: it does not answer.
      self.credentialsAccepted.remove(key);
      isRefused = false;
    }
  };
}
