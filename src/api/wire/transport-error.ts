import { ApiError, type ErrorKind } from '../errors.ts';

type Sent = {
  readonly what: string;
  readonly apiEndpoint: string;
  /** The deadline, where it was the deadline that ended the request. */
  readonly timedOutAfterMs: number | undefined;
  /** Whether a proxy stands between: then no fault of a connection is the server's own. */
  readonly isByProxy: boolean;
  /** The largest answer that was allowed. */
  readonly maxBytes: number;
};

/** The fault of a socket, a TLS handshake or a body as one of the closed kinds, with what to look at. */
export function toTransportError(error: unknown, sent: Sent): ApiError {
  const { what, apiEndpoint, timedOutAfterMs, isByProxy, maxBytes } = sent;
  if (error instanceof ApiError) return error;
  if (timedOutAfterMs !== undefined) {
    const message = `${what}: no complete answer within ${(timedOutAfterMs / 1000).toLocaleString('en')} s`;
    return new ApiError(message, { kind: 'timeout', apiEndpoint, cause: error });
  }
  const proxyStatus = isByProxy ? proxyStatusOf(error) : undefined;
  if (proxyStatus !== undefined) {
    const why = proxyStatus === '407' ? ': it requires a password, which is not supported' : '';
    const message = `${what}: the proxy refuses with HTTP ${proxyStatus}${why}; see proxy_url`;
    return new ApiError(message, { kind: 'network', apiEndpoint, cause: error });
  }
  const code = codeOf(error);
  const { kind, says } =
    (isByProxy ? [...proxyFaults, ...faults] : faults).find(({ codes }) => codes.test(code)) ?? otherFault;
  const cap = kind === 'too_large' ? `, more than ${maxBytes / 2 ** 20} MB` : '';
  return new ApiError(`${what}: ${says}${cap} (${code})`, { kind, apiEndpoint, cause: error });
}

type Fault = { readonly codes: RegExp; readonly kind: ErrorKind; readonly says: string };

const faults: readonly Fault[] = [
  { codes: /^ExchangeStopped$/, kind: 'network', says: 'the caller stopped waiting' },
  { codes: /^ECONNREFUSED$/, kind: 'network', says: 'the connection was refused; is the server running?' },
  { codes: /^(ENOTFOUND|EAI_)/, kind: 'network', says: 'the host name could not be resolved' },
  { codes: /^UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT$/, kind: 'timeout', says: 'no answer in time' },
  {
    codes: /^(ExchangeTooLarge|UND_ERR_HEADERS_OVERFLOW|HPE_HEADER_OVERFLOW|InflatedTooLarge)$/,
    kind: 'too_large',
    says: 'the answer is too large',
  },
  { codes: /^CERT_HAS_EXPIRED$/, kind: 'tls', says: "the server's certificate has expired" },
  {
    codes: /^ERR_TLS_CERT_ALTNAME/,
    kind: 'tls',
    says: "the server's certificate is for another name; see tls.server_name",
  },
  {
    codes: /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|^CERT_UNTRUSTED/,
    kind: 'tls',
    says: "the server's certificate is not trusted; see tls.ca_file",
  },
  {
    codes: /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_UNKNOWN)$/,
    kind: 'tls',
    says: 'the server requires a client certificate that it trusts; see tls.cert_file',
  },
  {
    codes: /CERT|^ERR_TLS|^ERR_SSL|SIGNATURE|^EPROTO$|HOSTNAME_MISMATCH|^UND_ERR_PRX_TLS/,
    kind: 'tls',
    says: 'the TLS connection failed',
  },
  { codes: /^Z_/, kind: 'decode', says: 'the compressed answer is damaged' },
];

const proxyFaults: readonly Fault[] = [
  { codes: /^ECONNREFUSED$/, kind: 'network', says: 'the proxy refused the connection; is it running? See proxy_url' },
  { codes: /^(ENOTFOUND|EAI_)/, kind: 'network', says: "the proxy's host name could not be resolved; see proxy_url" },
];

const otherFault = { kind: 'network', says: 'the connection failed' } as const;

/** Returns the status with which a proxy refused; only the message holds it. */
function proxyStatusOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(error.message)?.[1];
}

/** The error code nearest to the root: undici wraps the socket's own error. A few have only a name. */
function codeOf(error: unknown): string {
  let code = error instanceof Error ? error.name : 'unknown';
  let current: unknown = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if ('code' in current && typeof current.code === 'string') code = current.code;
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return code;
}
