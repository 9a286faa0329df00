import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { readRetryAfterMs } from '../../api/retry.ts';
import type { PostAnswer } from './post.ts';

/** What a response means for the traces of its request. */
export type Verdict =
  | { readonly kind: 'delivered'; readonly rejectedSpans: number; readonly message: string }
  | {
      readonly kind: 'wait';
      readonly reason: string;
      readonly askedMs: number | undefined;
      /** True if the request was lost, for example because it was too large for a gateway. */
      readonly isLost: boolean;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly status: number };

/** Statuses of temporary errors, which do not depend on the content of the request. */
const passing: readonly number[] = [429, 502, 503, 504];

/** Statuses of gateways that could not reach the OTLP endpoint, or dropped the request. */
const lostBehind: readonly number[] = [502, 503, 504];

/** Returns the meaning of a response. The status decides; the body only adds details. */
export function toVerdict(answer: PostAnswer, nowMs: number): Verdict {
  const { status, contentType, retryAfter } = answer;
  if (status >= 200 && status < 300) {
    // A login page in front of the trace backend responds to every request with 200, although nothing was delivered. An
    // empty response counts as success: HTML is the default type of some web servers.
    if (isHtml(contentType) && answer.bytes.length > 0)
      return { kind: 'wait', reason: `HTTP ${status} with a web page`, askedMs: undefined, isLost: false };
    return { kind: 'delivered', ...readPartialSuccess(answer) };
  }
  const message = readMessage(answer);
  const reason = message === '' ? `HTTP ${status}` : `HTTP ${status}: ${message}`;
  // Redirects are not followed, and say nothing about a trace.
  if (passing.includes(status) || status < 400) {
    const askedMs = readRetryAfterMs(retryAfter, nowMs);
    return { kind: 'wait', reason, askedMs, isLost: askedMs === undefined && lostBehind.includes(status) };
  }
  return { kind: 'refused', reason, status };
}

function readPartialSuccess({ bytes, contentType, isCut }: PostAnswer) {
  if (isCut || bytes.length === 0) return { rejectedSpans: 0, message: '' };
  try {
    const serializer = isJson(contentType) ? JsonTraceSerializer : ProtobufTraceSerializer;
    // All signals have the same fields in protobuf, but in JSON, the fields have other names.
    const partialSuccess: Rejected | undefined = serializer.deserializeResponse(bytes).partialSuccess;
    // JSON stores 64-bit numbers as text.
    const rejectedSpans = Number(
      partialSuccess?.rejectedSpans ?? partialSuccess?.rejectedLogRecords ?? partialSuccess?.rejectedDataPoints ?? 0,
    );
    const message = partialSuccess?.errorMessage;
    return {
      rejectedSpans: Number.isSafeInteger(rejectedSpans) && rejectedSpans > 0 ? rejectedSpans : 0,
      message: typeof message === 'string' ? message : '',
    };
  } catch {
    // The traces were delivered even if the body is unreadable.
    return { rejectedSpans: 0, message: '' };
  }
}

type Rejected = { [Count in 'rejectedSpans' | 'rejectedLogRecords' | 'rejectedDataPoints']?: number } & {
  errorMessage?: string;
};

function readMessage({ bytes, contentType }: PostAnswer): string {
  if (isHtml(contentType)) return '';
  if (contentType.startsWith('application/x-protobuf')) return readStatusMessage(bytes);
  const text = Buffer.from(bytes).toString('utf8');
  if (!isJson(contentType)) return text;
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && 'message' in body) return String(body.message);
  } catch {
    // A body that is not JSON is shown unchanged.
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
 * Reads the message of a `google.rpc.Status` (field 2), with which OTLP endpoints refuse requests. Returns an empty text for
 * other bytes. OpenTelemetry's package reads only successful responses.
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
