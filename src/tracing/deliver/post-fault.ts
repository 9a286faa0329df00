import { type Peer, toConnectionFault, toFaultCode } from '../../api/wire/connection-fault.ts';

/** Why a request brought no answer. */
export type PostFaultKind = 'network' | 'tls' | 'timeout' | 'stopped';

/** A request without an answer; the message names the trace backend's host and never a path, a query or a header. */
export class PostFault extends Error {
  override readonly name = 'PostFault';
  readonly kind: PostFaultKind;
  /** True if it may have got lost on its way: there was a connection, or nothing shows that there was none. */
  readonly isLost: boolean;

  constructor(message: string, { kind, cause, isLost = kind === 'timeout' }: About) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.isLost = isLost;
  }
}

type About = { readonly kind: PostFaultKind; readonly cause?: unknown; readonly isLost?: boolean };

/** The fault of a file, a socket, a name or a handshake, with what to look at. */
export function toPostFault(error: unknown, host: string): PostFault {
  const fileSays = fileFaults.find(({ codes }) => codes.test(toFaultCode(error)))?.says;
  const { kind, says, code } = toConnectionFault(error, traceBackend);
  return new PostFault(`${host}: ${fileSays ?? says} (${code})`, {
    kind: fileSays !== undefined || kind === 'tls' ? 'tls' : 'network',
    cause: error,
    isLost: lostOnItsWay.test(code),
  });
}

/** Codes of connections that were open and ended, as far as the system knows. */
const lostOnItsWay = /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|HPE_)/;

const traceBackend: Peer = {
  name: 'trace backend',
  caOption: 'OTEL_EXPORTER_OTLP_CERTIFICATE',
  certOption: 'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
};

const fileFaults: readonly { readonly codes: RegExp; readonly says: string }[] = [
  { codes: /^(ENOENT|EACCES|EISDIR)$/, says: 'a file with a certificate or key cannot be read' },
  { codes: /^ERR_OSSL/, says: 'a file with a certificate or key cannot be used' },
];
