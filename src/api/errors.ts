/** All kinds of errors of a request. Retries, metrics and the log use the same words. */
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
  /** The HTTP status; absent without a response. */
  readonly status?: number;
  /** The error code of the server. Messages are not stored, because they may contain the first characters of the token. */
  readonly errorCode?: string;
  /** True if the body is an error of the server itself, not of a proxy. */
  readonly isOfService?: boolean;
  /** The newest API version, if the response names it. */
  readonly serverApiVersion?: number;
  readonly retryAfterMs?: number;
  /** True if the request was never sent, for example because the circuit was open. */
  readonly unsent?: true;
  /** True if the exporter's own limits prevented the request. */
  readonly isOwnLimit?: true;
  readonly cause?: unknown;
};

/** A request without a usable response. The message has the request and the result. */
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

/** Returns the error of a request that was not sent, with the reason. */
export function notAsked(
  apiEndpoint: string,
  kind: ErrorKind,
  says: string,
  limit: Pick<ApiErrorDetails, 'isOwnLimit'> = {},
): ApiError {
  return new ApiError(`GET ${apiEndpoint}: not asked, ${says}`, { kind, apiEndpoint, unsent: true, ...limit });
}

/** Reports whether a name cannot be requested because it cannot be part of a path. */
export function isUnaskable({ kind, details }: ApiError): boolean {
  return kind === 'rejected' && details.unsent === true;
}

/**
 * Reports whether the response to a request for all projects (`*`) says nothing about single projects (rundeck dialect):
 * releases 4.14 to 4.17 report a missing project with the name `*`, releases 3.2.6 to 3.3.0 (and perhaps unknown releases)
 * fail, and from release 3.4.5 on, servers refuse all projects if one of them cannot be read.
 */
export function isUnknownStar(error: unknown, release = ''): boolean {
  if (!(error instanceof ApiError)) return false;
  const { errorCode, status } = error.details;
  if (errorCode === 'api.error.project.missing' || errorCode === 'api.error.item.unauthorized') return true;
  return status === 500 && /^(3\.(2|3\.0)\b|$)/.test(release);
}

/** Reports whether all other requests would fail too, because the server or a proxy rejects them or does not respond. */
export function isOfWholeServer({ kind, details }: ApiError): boolean {
  const { status, isOfService, unsent } = details;
  if (kind === 'rejected' || kind === 'too_large') return false;
  if (kind === 'forbidden') return isOfService !== true;
  // An unsent request counts too: it reports an earlier error of the server.
  if (kind === 'server') return unsent === true || status === 502 || status === 503 || status === 504;
  return turnedAway.includes(kind) || (status === undefined && kind !== 'unsupported_version');
}

const turnedAway: readonly ErrorKind[] = ['unauthorized', 'busy', 'passive', 'redirect', 'html', 'empty'];
