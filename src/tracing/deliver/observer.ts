import { type Peer, toConnectionFault, toFaultCode } from '../../api/wire/connection-fault.ts';
import type { QuarantinedTrace, SpooledTrace, SpoolSize } from '../../state/spool.ts';

/** The reasons for which spans did not reach the backend. */
export type RejectReason = 'partial_success' | 'refused' | 'unanswered' | 'dropped';

/** The ways a request ends: with an answer, or with the fault in place of one. */
export type RequestOutcome = 'delivered' | 'wait' | 'refused' | PostFaultKind;

/** Notified of events of the sender, for metrics and the log; each callback reports one event. */
export type SenderObserver = {
  readonly exported: (spans: number) => void;
  /** Refused and unanswered traces are quarantined and may be sent again; dropped ones were quarantined and are gone. */
  readonly rejected: (reason: RejectReason, spans: number) => void;
  /** Called when the trace backend accepted the request with a warning. */
  readonly warned: (message: string) => void;
  readonly quarantine: (
    trace: Pick<SpooledTrace, 'server' | 'executionId'>,
    reason: string,
    why: 'refused' | 'unanswered',
  ) => void;
  readonly dropped: (trace: QuarantinedTrace) => void;
  readonly request: (outcome: RequestOutcome, seconds: number) => void;
  /** Once when deliveries begin to fail, once when they work again. */
  readonly failing: (reason: string) => void;
  readonly recovered: () => void;
  readonly size: (size: SpoolSize) => void;
};

/** Why a request brought no answer. */
type PostFaultKind = 'network' | 'tls' | 'timeout' | 'stopped';

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

type About = { kind: PostFaultKind; cause?: unknown; isLost?: boolean };

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

const fileFaults: readonly { codes: RegExp; says: string }[] = [
  { codes: /^(ENOENT|EACCES|EISDIR)$/, says: 'a file with a certificate or key cannot be read' },
  { codes: /^ERR_OSSL/, says: 'a file with a certificate or key cannot be used' },
];

const firstMs = 1000;
const maxMs = 60_000;

/** Computes the wait after a number of failed tries, with full jitter; never less than the OTLP endpoint asked for. */
export function backoffMs(tries: number, random: number, askedMs = 0): number {
  return Math.max(askedMs, random * Math.min(maxMs, firstMs * 2 ** Math.min(tries, 30)));
}
