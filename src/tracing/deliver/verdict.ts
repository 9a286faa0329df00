import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { readRetryAfterMs } from '../../api/retry.ts';
import type { PostAnswer } from './post.ts';

/** The meaning of an answer for the traces of its request. */
export type Verdict =
  | { readonly kind: 'delivered'; readonly rejectedSpans: number; readonly message: string }
  | {
      readonly kind: 'wait';
      readonly reason: string;
      readonly askedMs: number | undefined;
      /** True if it got lost on its way, as what is too large for a gateway may. */
      readonly isLost: boolean;
    }
  | { readonly kind: 'refused'; readonly reason: string };

/** Statuses that speak of the moment, not of what was sent. */
const passing: readonly number[] = [429, 502, 503, 504];

/** The answers of gateways that lost the OTLP endpoint, or dropped the request. */
const lostBehind: readonly number[] = [502, 503, 504];

/** Judges by the status; the body of an answer only adds to it. */
export function toVerdict(answer: PostAnswer, nowMs: number): Verdict {
  const { status, contentType, retryAfter } = answer;
  if (status >= 200 && status < 300) {
    // A page in front of the trace backend accepts everything: nothing has been delivered.
    if (isHtml(contentType))
      return { kind: 'wait', reason: `HTTP ${status} with a web page`, askedMs: undefined, isLost: false };
    return { kind: 'delivered', ...readPartialSuccess(answer) };
  }
  const message = readMessage(answer);
  const reason = message === '' ? `HTTP ${status}` : `HTTP ${status}: ${message}`;
  // A redirect is never followed, and is not an answer about a trace.
  if (passing.includes(status) || status < 400) {
    const askedMs = readRetryAfterMs(retryAfter, nowMs);
    return { kind: 'wait', reason, askedMs, isLost: askedMs === undefined && lostBehind.includes(status) };
  }
  return { kind: 'refused', reason };
}

function readPartialSuccess({ bytes, contentType, isCut }: PostAnswer) {
  if (isCut || bytes.length === 0) return { rejectedSpans: 0, message: '' };
  try {
    const serializer = isJson(contentType) ? JsonTraceSerializer : ProtobufTraceSerializer;
    const { partialSuccess } = serializer.deserializeResponse(bytes);
    // JSON writes 64-bit numbers as text.
    const rejectedSpans = Number(partialSuccess?.rejectedSpans ?? 0);
    const message = partialSuccess?.errorMessage;
    return {
      rejectedSpans: Number.isSafeInteger(rejectedSpans) && rejectedSpans > 0 ? rejectedSpans : 0,
      message: typeof message === 'string' ? message : '',
    };
  } catch {
    // Delivered is delivered, whatever comes with it.
    return { rejectedSpans: 0, message: '' };
  }
}

function readMessage({ bytes, contentType }: PostAnswer): string {
  if (isHtml(contentType)) return '';
  if (contentType.startsWith('application/x-protobuf')) return readStatusMessage(bytes);
  const text = Buffer.from(bytes).toString('utf8');
  if (!isJson(contentType)) return text;
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && 'message' in body) return String(body.message);
  } catch {
    // Then it is shown as it came.
  }
  return text;
}

function isHtml(contentType: string): boolean {
  return contentType.startsWith('text/html');
}

function isJson(contentType: string): boolean {
  return contentType.startsWith('application/json');
}

/**
 * Reads the message of a `google.rpc.Status` (field 2), the answer of OTLP endpoints to what they refuse; empty if the bytes
 * are not one. OpenTelemetry's own package only reads answers of success.
 */
export function readStatusMessage(bytes: Uint8Array): string {
  let at = 0;
  function readNumber(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined) return Number.NaN;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return Number.NaN;
  }

  while (at < bytes.length) {
    const tag = readNumber();
    const wireType = tag % 8;
    if (wireType === 0) readNumber();
    else if (wireType === 2) {
      const end = readNumber() + at;
      if (!(end <= bytes.length)) return '';
      if (tag === messageTag) return Buffer.from(bytes.subarray(at, end)).toString('utf8');
      at = end;
    } else return '';
  }
  return '';
}

const messageTag = 2 * 8 + 2;
