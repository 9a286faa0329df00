import { type Peer, toConnectionFault, toFaultCode } from '../../api/wire/connection-fault.ts';
import type { QuarantinedTrace, SpooledSignal, SpooledTrace, SpoolSize } from '../../state/spool.ts';

/** The reasons why spans did not reach the backend. */
export type RejectReason = 'partial_success' | 'refused' | 'unanswered' | 'dropped';

/** How a request ended: with a response, or with an error. */
type RequestOutcome = 'delivered' | 'wait' | 'refused' | PostFaultKind;

/** Receives events of the sender, for metrics and the log. */
export type SenderObserver = {
  readonly exported: (spans: number, signal: SpooledSignal) => void;
  /** `refused` and `unanswered` traces are quarantined and may be retried. `dropped` traces were removed from the quarantine. */
  readonly rejected: (reason: RejectReason, spans: number, signal: SpooledSignal) => void;
  /** Called when the trace backend accepted the request with a warning. */
  readonly warned: (message: string) => void;
  readonly quarantine: (
    trace: Pick<SpooledTrace, 'server' | 'executionId' | 'encoding'>,
    reason: string,
    why: 'refused' | 'unanswered',
  ) => void;
  readonly dropped: (trace: QuarantinedTrace) => void;
  readonly request: (outcome: RequestOutcome, seconds: number) => void;
  /** `failing` is called once when deliveries begin to fail, `recovered` once when they succeed again. */
  readonly failing: (reason: string) => void;
  readonly recovered: () => void;
  readonly size: (size: SpoolSize) => void;
};

type PostFaultKind = 'network' | 'tls' | 'timeout' | 'stopped';

/** A request without a response. The message contains the host of the trace backend, but no path, query or header. */
export class PostFault extends Error {
  override readonly name = 'PostFault';
  readonly kind: PostFaultKind;
  /** True if the request may have been sent before the connection was lost. */
  readonly isLost: boolean;

  constructor(message: string, { kind, cause, isLost = kind === 'timeout' }: About) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.isLost = isLost;
  }
}

type About = { kind: PostFaultKind; cause?: unknown; isLost?: boolean };

/** Converts an error of a file, a socket, a name or a TLS handshake, and adds what to check. */
export function toPostFault(error: unknown, host: string, isSent: boolean): PostFault {
  const fileSays = fileFaults.find(({ codes }) => codes.test(toFaultCode(error)))?.says;
  const { kind, says, code } = toConnectionFault(error, otlpEndpoint);
  return new PostFault(`${host}: ${fileSays ?? says} (${code})`, {
    kind: fileSays !== undefined || kind === 'tls' ? 'tls' : 'network',
    cause: error,
    isLost: isSent && lostOnItsWay.test(code),
  });
}

/** The codes of errors that end open connections. */
const lostOnItsWay = /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|HPE_)/;

const otlpEndpoint: Peer = {
  name: 'OTLP endpoint',
  caOption: 'OTEL_EXPORTER_OTLP_CERTIFICATE',
  certOption: 'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
  otherwise: 'gRPC, as on port 4317, or https',
};

const fileFaults: readonly { codes: RegExp; says: string }[] = [
  { codes: /^(ENOENT|EACCES|EISDIR)$/, says: 'a file with a certificate or key cannot be read' },
  { codes: /^ERR_OSSL/, says: 'a file with a certificate or key cannot be used' },
];

const firstMs = 1000;
const maxMs = 60_000;

/** Returns the wait after a number of failed tries, with full jitter; at least the wait that the endpoint requested. */
export function backoffMs(tries: number, random: number, askedMs = 0): number {
  return Math.max(askedMs, random * Math.min(maxMs, firstMs * 2 ** Math.min(tries, 30)));
}
