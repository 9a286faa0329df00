/** Every way in which a request can fail; retries, metrics and the log use these words. */
export const errorKinds = [
  'network',
  'tls',
  'timeout',
  'unauthorized',
  'forbidden',
  'not_found',
  'unsupported_version',
  'passive',
  'busy',
  'server',
  'rejected',
  'too_large',
  'decode',
  'redirect',
  'html',
  'empty',
] as const;
export type ErrorKind = (typeof errorKinds)[number];

export type ApiErrorDetails = {
  readonly kind: ErrorKind;
  readonly apiEndpoint: string;
  /** The answer's HTTP status; absent without an answer. */
  readonly status?: number;
  /** The service's error code. Its message is never kept, because it may repeat the token's first characters. */
  readonly errorCode?: string;
  /** True if the body is an error of the service, not of a proxy. */
  readonly isOfService?: boolean;
  /** The newest API version that the answer names. */
  readonly serverApiVersion?: number;
  /** How long the server asks to wait. */
  readonly retryAfterMs?: number;
  /** Set if the request was never sent, such as by an open circuit. */
  readonly unsent?: true;
  /**
   * Set if the exporter's own limits prevented it: it got no turn, or its timeout had passed. That is no error of the
   * server.
   */
  readonly isOwnLimit?: true;
  readonly cause?: unknown;
};

/** A request without a usable answer. The message has the request and the result. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly kind: ErrorKind;
  readonly details: ApiErrorDetails;

  constructor(message: string, details: ApiErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = details.kind;
    this.details = details;
  }
}

/** Returns the error of a request that was never sent, and why. */
export function notAsked(
  apiEndpoint: string,
  kind: ErrorKind,
  says: string,
  limit: Pick<ApiErrorDetails, 'isOwnLimit'> = {},
): ApiError {
  return new ApiError(`GET ${apiEndpoint}: not asked, ${says}`, { kind, apiEndpoint, unsent: true, ...limit });
}

/** Reports whether a name cannot be requested, because no path can contain it. */
export function isUnaskable({ kind, details }: ApiError): boolean {
  return kind === 'rejected' && details.unsent === true;
}

/**
 * Reports whether the answer for `*`, for all projects, is no answer for each of them (rundeck dialect): 4.14 to 4.17 report a
 * project of that name as missing, 3.2.6 to 3.3.0 fail, and from 3.4.5 on one project that may not be read refuses all.
 */
export function isUnknownStar(error: unknown, release = ''): boolean {
  if (!(error instanceof ApiError)) return false;
  const { errorCode, status } = error.details;
  if (errorCode === 'api.error.project.missing' || errorCode === 'api.error.item.unauthorized') return true;
  return status === 500 && /^3\.(2|3\.0)\b/.test(release);
}

/**
 * Reports whether an error is independent of the request: the server did not answer at all, or it or a proxy rejects
 * every request.
 */
export function isOfWholeServer({ kind, details }: ApiError): boolean {
  const { status, isOfService, unsent } = details;
  if (kind === 'rejected') return false;
  if (kind === 'forbidden') return isOfService !== true;
  // A request that was not sent because of an earlier server error would fail whatever it is.
  if (kind === 'server') return unsent === true || status === 502 || status === 503 || status === 504;
  return turnedAway.includes(kind) || (status === undefined && kind !== 'unsupported_version');
}

const turnedAway: readonly ErrorKind[] = ['unauthorized', 'busy', 'passive', 'redirect', 'html', 'empty'];
