import { isKnownReason } from '../../domain/failure-class.ts';
import { otherError } from './attribute-names.ts';

export const nodeFailure = 'node_failure';
export const incomplete = 'incomplete';
export const timeout = 'timeout';

/** Returns the `error.type` for a reason of the server, from a closed list, because plugins write any text. */
export function toErrorType(reason: string | undefined): string | undefined {
  if (reason === undefined) return undefined;
  return isKnownReason(reason) ? reason : otherError;
}

export function toReasonText(errorType: string): string {
  return errorType === otherError ? 'another reason' : errorType;
}

/** Returns the reason of the steps. If the steps were only interrupted, a more specific reason of the log is used. */
export function chooseReason(ofSteps: string | undefined, logged: string | undefined): string | undefined {
  return ofSteps === undefined || ofSteps === 'Interrupted' ? (logged ?? ofSteps) : ofSteps;
}
