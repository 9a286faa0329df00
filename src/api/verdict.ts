import type { Endpoint } from './endpoint.ts';
import { type ApiError, isUnaskable } from './errors.ts';

/** What an error means for an endpoint: unavailable for a reason, or failed. */
type Verdict = 'denied' | 'not_found' | 'version' | 'failed';

export function toVerdict(
  error: ApiError,
  endpoints: readonly Pick<Endpoint<unknown>, 'name' | 'mayBeOff'>[],
): Verdict {
  const { kind, details } = error;
  if (kind === 'forbidden') return 'denied';
  // Without a status, the exporter itself found that its API version does not have the endpoint. With a status, the server
  // refused the version.
  if (kind === 'unsupported_version') return details.status === undefined ? 'version' : 'failed';
  if (isUnaskable(error)) return 'not_found';
  if (kind !== 'not_found' || details.isOfService !== true) return 'failed';
  const endpoint = endpoints.find(({ name }) => name === details.apiEndpoint);
  return endpoint?.mayBeOff === true ? 'not_found' : 'failed';
}

/** Reports whether an item, a project or an optional endpoint does not exist, which is no error. */
export function isAbsence(error: ApiError, endpoint: Pick<Endpoint<unknown>, 'name' | 'mayBeOff'>): boolean {
  const { kind, details } = error;
  if (kind !== 'not_found' || details.isOfService !== true) return false;
  const { errorCode = '' } = details;
  return endpoint.mayBeOff || errorCode === 'api.error.item.doesnotexist' || errorCode.startsWith('api.error.project.');
}

/** Reports whether the server itself responded and accepted the credentials, even if it refused the request. */
export function isAuthenticatedAnswer({ kind, details }: ApiError): boolean {
  if (details.errorCode === undefined) return false;
  return kind === 'forbidden' || kind === 'not_found' || kind === 'rejected';
}
