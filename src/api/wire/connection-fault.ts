/** The kind of a connection error, and a text that says what to check. */
type ConnectionFault = { readonly kind: FaultKind; readonly says: string; readonly code: string };

type FaultKind = 'network' | 'tls' | 'timeout' | 'too_large' | 'decode';

/** The other end of a connection: its name in messages, and the options for trusting it. */
export type Peer = {
  readonly name: string;
  readonly caOption: string;
  readonly certOption: string;
  /** The option for the expected name; absent if the name cannot be configured. */
  readonly serverNameOption?: string;
  /** The protocol that the other end may speak instead of HTTP; https if absent. */
  readonly otherwise?: string;
};

/** Explains why an exchange got no response: an error of a name, a socket, a TLS handshake or the format of the response. */
export function toConnectionFault(error: unknown, peer: Peer): ConnectionFault {
  const code = toFaultCode(error);
  const { kind, says } = faults.find(({ codes }) => codes.test(code)) ?? otherFault;
  return { kind, says: typeof says === 'string' ? says : says(peer), code };
}

/** Returns the error code closest to the cause, because undici wraps errors of sockets. A few errors have only a name. */
export function toFaultCode(error: unknown): string {
  let code = error instanceof Error ? error.name : 'unknown';
  let current: unknown = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if ('code' in current && typeof current.code === 'string') code = current.code;
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return code;
}

type Row = { codes: RegExp; kind: FaultKind; says: string | ((peer: Peer) => string) };

const faults: readonly Row[] = [
  { codes: /^ExchangeStopped$/, kind: 'network', says: 'the caller stopped waiting' },
  {
    codes: /^ECONNREFUSED$/,
    kind: 'network',
    says: ({ name }) => `the connection was refused; is the ${name} running?`,
  },
  { codes: /^(ENOTFOUND|EAI_)/, kind: 'network', says: 'the host name could not be resolved' },
  { codes: /^UND_ERR_SOCKET$/, kind: 'network', says: 'the connection was closed before the answer was complete' },
  { codes: /^UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT$/, kind: 'timeout', says: 'no answer in time' },
  {
    codes: /^(ExchangeTooLarge|UND_ERR_HEADERS_OVERFLOW|HPE_HEADER_OVERFLOW|InflatedTooLarge)$/,
    kind: 'too_large',
    says: 'the answer is too large',
  },
  { codes: /^CERT_HAS_EXPIRED$/, kind: 'tls', says: ({ name }) => `the ${name}'s certificate has expired` },
  {
    codes: /^ERR_TLS_CERT_ALTNAME/,
    kind: 'tls',
    says: ({ name, serverNameOption }) =>
      `the ${name}'s certificate is for another name${serverNameOption === undefined ? '' : `; see ${serverNameOption}`}`,
  },
  {
    codes: /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|^CERT_UNTRUSTED/,
    kind: 'tls',
    says: ({ name, caOption }) => `the ${name}'s certificate is not trusted; see ${caOption}`,
  },
  {
    codes: /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_UNKNOWN)$/,
    kind: 'tls',
    says: ({ name, certOption }) => `the ${name} requires a client certificate that it trusts; see ${certOption}`,
  },
  {
    codes: /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/,
    kind: 'tls',
    says: ({ name }) => `the ${name} does not speak TLS; does it speak http?`,
  },
  {
    codes: /^(HTTPParserError|HPE_INVALID_CONSTANT)$/,
    kind: 'network',
    says: ({ name, otherwise = 'https' }) => `the ${name} does not speak HTTP; does it speak ${otherwise}?`,
  },
  {
    codes: /CERT|^ERR_TLS|^ERR_SSL|SIGNATURE|^EPROTO$|HOSTNAME_MISMATCH|^UND_ERR_PRX_TLS/,
    kind: 'tls',
    says: 'the TLS connection failed',
  },
  { codes: /^Z_/, kind: 'decode', says: 'the compressed answer is damaged' },
];

const otherFault = { kind: 'network', says: 'the connection failed' } as const;
