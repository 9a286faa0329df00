import { ApiError } from '../errors.ts';
import { type Peer, toConnectionFault } from './connection-fault.ts';

type Sent = {
  readonly what: string;
  readonly apiEndpoint: string;
  /** The deadline, where it was the deadline that ended the request. */
  readonly timedOutAfterMs: number | undefined;
  /** True if a proxy stands between: then no fault of a connection is the server's own. */
  readonly isByProxy: boolean;
  /** False where the URL begins with `http:`. */
  readonly isEncrypted: boolean;
  /** The largest answer that was allowed. */
  readonly maxBytes: number;
};

/** The fault of a socket, a TLS handshake or a body as one of the closed kinds, with what to look at. */
export function toTransportError(error: unknown, sent: Sent): ApiError {
  const { what, apiEndpoint, timedOutAfterMs, isByProxy, isEncrypted, maxBytes } = sent;
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
  const { kind, says: usual, code } = toConnectionFault(error, server);
  const ofProxy = isByProxy ? proxyFaults.find(({ codes }) => codes.test(code))?.says : undefined;
  const says = ofProxy ?? (!isEncrypted && isWithoutAnswer(error) ? mayBeEncrypted : usual);
  const cap = kind === 'too_large' ? `, more than ${maxBytes / 2 ** 20} MB` : '';
  return new ApiError(`${what}: ${says}${cap} (${code})`, { kind, apiEndpoint, cause: error });
}

const server: Peer = {
  name: 'server',
  caOption: 'tls.ca_file',
  certOption: 'tls.cert_file',
  serverNameOption: 'tls.server_name',
};

const proxyFaults: readonly { readonly codes: RegExp; readonly says: string }[] = [
  { codes: /^ECONNREFUSED$/, says: 'the proxy refused the connection; is it running? See proxy_url' },
  { codes: /^(ENOTFOUND|EAI_)/, says: "the proxy's host name could not be resolved; see proxy_url" },
];

const mayBeEncrypted = 'the connection was closed without an answer; does it speak https?';

/** Reports whether the other end closed a connection on which it never sent anything. */
function isWithoutAnswer(error: unknown): boolean {
  const { socket } = error as { readonly socket?: { readonly bytesRead?: number } | null };
  return socket?.bytesRead === 0;
}

/** Returns the status with which a proxy refused; only the message holds it. */
function proxyStatusOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(error.message)?.[1];
}
