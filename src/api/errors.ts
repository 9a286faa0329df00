/** Every way in which a request can fail; the retry decision, the metric label and the log field all use these words. */
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
  /** The answer's HTTP status; absent where none arrived. */
  readonly status?: number;
  /** The service's own code; its message is never kept: it may echo the token's first characters. */
  readonly errorCode?: string;
  /** True if the body is an error of the service, and not of something in front of it. */
  readonly isOfService?: boolean;
  /** The newest API version that the answer names. */
  readonly serverApiVersion?: number;
  /** The time for which the server asks us to wait. */
  readonly retryAfterMs?: number;
  /** Set if the request was never sent; a circuit that is open spares the server. */
  readonly unsent?: true;
  /**
   * Set if our own limits kept it from being sent: its turn did not come, or its timeout had passed. That is not a fault of
   * the server.
   */
  readonly isOwnLimit?: true;
  readonly cause?: unknown;
};

/** A request that brought no usable answer. The message says what was asked and what came back. */
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

/** The error of a request that was never sent, and why. */
export function notAsked(
  apiEndpoint: string,
  kind: ErrorKind,
  says: string,
  limit: Pick<ApiErrorDetails, 'isOwnLimit'> = {},
): ApiError {
  return new ApiError(`GET ${apiEndpoint}: not asked, ${says}`, { kind, apiEndpoint, unsent: true, ...limit });
}

/** Reports whether nothing can be asked about a name, because no path can hold it. */
export function isUnaskable({ kind, details }: ApiError): boolean {
  return kind === 'rejected' && details.unsent === true;
}

/**
 * Reports whether a fault is independent of the request: the server did not answer at all, or it, or something in front of it,
 * rejects whatever we ask.
 */
export function isOfWholeServer({ kind, details }: ApiError): boolean {
  const { status, isOfService, unsent } = details;
  if (kind === 'rejected') return false;
  if (kind === 'forbidden') return isOfService !== true;
  // What is not asked because the server failed before fails whatever it is.
  if (kind === 'server') return unsent === true || status === 502 || status === 503 || status === 504;
  return turnedAway.includes(kind) || (status === undefined && kind !== 'unsupported_version');
}

const turnedAway: readonly ErrorKind[] = ['unauthorized', 'busy', 'passive', 'redirect', 'html', 'empty'];
