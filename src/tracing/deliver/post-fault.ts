/** Why a request brought no answer. */
export type PostFaultKind = 'network' | 'tls' | 'timeout' | 'stopped';

/** A request without an answer; the message names the collector's host and never a path, a query or a header. */
export class PostFault extends Error {
  override readonly name = 'PostFault';
  readonly kind: PostFaultKind;
  /** Whether it may have got lost on its way: there was a connection, or at least nothing says that there was none. */
  readonly isLost: boolean;

  constructor(message: string, { kind, cause, isLost = kind === 'timeout' }: About) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.isLost = isLost;
  }
}

type About = { readonly kind: PostFaultKind; readonly cause?: unknown; readonly isLost?: boolean };

/** The fault of a socket, a name or a handshake, with what to look at. */
export function toPostFault(error: unknown, host: string): PostFault {
  if (error instanceof PostFault) return error;
  const code = codeOf(error);
  const { kind, says } = faults.find(({ codes }) => codes.test(code)) ?? otherFault;
  return new PostFault(`${host}: ${says} (${code})`, { kind, cause: error, isLost: lostOnItsWay.test(code) });
}

/** Of connections that were there and ended, as far as the system tells. */
const lostOnItsWay = /^(ECONNRESET|ECONNABORTED|EPIPE|HPE_)/;

const faults: readonly { readonly codes: RegExp; readonly kind: PostFaultKind; readonly says: string }[] = [
  { codes: /^ECONNREFUSED$/, kind: 'network', says: 'the connection was refused; is the collector running?' },
  { codes: /^(ENOTFOUND|EAI_)/, kind: 'network', says: 'the host name could not be resolved' },
  { codes: /^CERT_HAS_EXPIRED$/, kind: 'tls', says: "the collector's certificate has expired" },
  { codes: /^ERR_TLS_CERT_ALTNAME/, kind: 'tls', says: "the collector's certificate is for another name" },
  {
    codes: /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|^CERT_UNTRUSTED/,
    kind: 'tls',
    says: "the collector's certificate is not trusted; see OTEL_EXPORTER_OTLP_CERTIFICATE",
  },
  {
    codes: /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_UNKNOWN)$/,
    kind: 'tls',
    says: 'the collector wants a client certificate that it trusts; see OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
  },
  { codes: /^(ENOENT|EACCES|EISDIR)$/, kind: 'tls', says: 'a file with a certificate or key cannot be read' },
  { codes: /^ERR_OSSL/, kind: 'tls', says: 'a file with a certificate or key cannot be used' },
  { codes: /CERT|^ERR_TLS|^ERR_SSL|SIGNATURE|^EPROTO$|MISMATCH/, kind: 'tls', says: 'the TLS connection failed' },
  { codes: /^HPE_/, kind: 'network', says: 'the response is not HTTP' },
];

const otherFault = { kind: 'network', says: 'the connection failed' } as const;

/** A name that resolves to several addresses fails with all their errors at once. */
function codeOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return 'unknown';
  return 'code' in first && typeof first.code === 'string' ? first.code : first.name;
}
