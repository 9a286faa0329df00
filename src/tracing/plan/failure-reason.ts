import { isKnownReason } from '../../domain/failure-class.ts';
import { otherError } from './attribute-names.ts';

export const nodeFailure = 'node_failure';
export const incomplete = 'incomplete';
export const timeout = 'timeout';

/** Returns the `error.type` for the server's reason. The list is closed, because plugins write any text. */
export function toErrorType(reason: string | undefined): string | undefined {
  if (reason === undefined) return undefined;
  return isKnownReason(reason) ? reason : otherError;
}

export function toReasonText(errorType: string): string {
  return errorType === otherError ? 'another reason' : errorType;
}

/** Returns the reason in the steps. If the steps were only interrupted, a more specific reason in the log is used. */
export function chooseReason(ofSteps: string | undefined, logged: string | undefined): string | undefined {
  return ofSteps === undefined || ofSteps === 'Interrupted' ? (logged ?? ofSteps) : ofSteps;
}
