import { describe, expect, it } from 'vitest';
import { readStatusMessage, toVerdict } from '../../../src/tracing/deliver/verdict.ts';

const nowMs = Date.UTC(2026, 0, 1);
const protobuf = 'application/x-protobuf';
const json = 'application/json';
// The body is partial_success { rejected_spans: 3, error_message: "too old" }.
const partial = Buffer.from('0a0b08031207746f6f206f6c64', 'hex');
// The body is google.rpc.Status { code: 3, message: "bad span" }.
const status = Buffer.from('080312086261642073 70616e'.replace(' ', ''), 'hex');

describe('tracing/deliver/verdict', () => {
  it.each<[string, string, string | Buffer, object]>([
    ['an empty answer', protobuf, '', { rejectedSpans: 0, message: '' }],
    ['an answer without a type', '', '', { rejectedSpans: 0, message: '' }],
    ['an empty answer of a web server', 'text/html; charset=utf-8', '', { rejectedSpans: 0, message: '' }],
    ['a partial success', protobuf, partial, { rejectedSpans: 3, message: 'too old' }],
    [
      'a partial success in JSON',
      `${json}; charset=utf-8`,
      '{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}',
      { rejectedSpans: 3, message: 'too old' },
    ],
    [
      'only a warning',
      json,
      '{"partialSuccess":{"errorMessage":"old schema"}}',
      { rejectedSpans: 0, message: 'old schema' },
    ],
    ['nonsense', protobuf, Buffer.from([0xff, 0xff, 0xff]), { rejectedSpans: 0, message: '' }],
    ['null', json, 'null', { rejectedSpans: 0, message: '' }],
    ['broken JSON', json, '{', { rejectedSpans: 0, message: '' }],
    [
      'log records that were rejected',
      json,
      '{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"too old"}}',
      { rejectedSpans: 2, message: 'too old' },
    ],
    ['numbers that are none', json, '{"partialSuccess":{"rejectedSpans":-7}}', { rejectedSpans: 0 }],
  ])('counts as delivered: %s', (_, contentType, body, expected) => {
    expect(judge(200, { contentType, body })).toMatchObject({ kind: 'delivered', ...expected });
  });

  it('counts every successful status as delivered', () => {
    expect([201, 202, 204, 299].map((code) => judge(code).kind)).toEqual(Array(4).fill('delivered'));
  });

  it.each<[number, string | undefined, number | undefined, boolean]>([
    [429, '7', 7000, false],
    [429, undefined, undefined, false],
    [502, undefined, undefined, true],
    [503, 'Thu, 01 Jan 2026 00:00:30 GMT', 30_000, false],
    [503, '86400', 300_000, false],
    [503, 'soon', undefined, true],
    [504, '0', 0, false],
    [307, undefined, undefined, false],
    [302, '5', 5000, false],
  ])('waits at %i with Retry-After %s', (code, retryAfter, askedMs, isLost) => {
    expect(judge(code, { retryAfter })).toEqual({ kind: 'wait', reason: `HTTP ${code}`, askedMs, isLost });
  });

  it('waits if the response is a web page', () => {
    expect(judge(200, { contentType: 'text/html; charset=utf-8', body: '<form>Sign in</form>' })).toEqual({
      kind: 'wait',
      reason: 'HTTP 200 with a web page',
      askedMs: undefined,
      isLost: false,
    });
  });

  it.each<[number, string, string | Buffer, string]>([
    [400, protobuf, status, 'HTTP 400: bad span'],
    [400, json, '{"code":3,"message":"bad span"}', 'HTTP 400: bad span'],
    [400, json, '["bad"]', 'HTTP 400: ["bad"]'],
    [400, json, '{', 'HTTP 400: {'],
    [413, 'text/plain', 'too large', 'HTTP 413: too large'],
    [500, 'text/html', '<h1>Oops</h1>', 'HTTP 500'],
    [401, '', '', 'HTTP 401'],
    [400, protobuf, Buffer.from('0803127f6261', 'hex'), 'HTTP 400'],
    [400, protobuf, Buffer.from('0803', 'hex'), 'HTTP 400'],
    [400, protobuf, Buffer.from('ffffffffffffffffffffffff', 'hex'), 'HTTP 400'],
    [501, protobuf, Buffer.from('0d00000000', 'hex'), 'HTTP 501'],
  ])('refuses permanently: %i %s', (code, contentType, body, reason) => {
    expect(judge(code, { contentType, body })).toEqual({ kind: 'refused', reason, status: code });
  });
});

type Given = {
  readonly contentType?: string;
  readonly body?: string | Buffer;
  readonly retryAfter?: string | undefined;
};

function judge(code: number, { contentType = '', body = '', retryAfter }: Given = {}) {
  return toVerdict({ status: code, contentType, retryAfter, bytes: Buffer.from(body), isCut: false }, nowMs);
}

describe('tracing/deliver/status-message', () => {
  it('reads a message whose length takes two bytes', () => {
    const text = 'x'.repeat(300);
    const bytes = Buffer.concat([Buffer.from([0x08, 0x03, 0x12, 0xac, 0x02]), Buffer.from(text)]);
    expect(readStatusMessage(bytes)).toBe(text);
  });

  it.each([
    ['nothing', []],
    ['a message that is cut', [0x12, 0x05, 0x61]],
    ['a number without an end', [0x08, 0xff]],
    ['another kind of field', [0x0d, 0x01]],
  ])('finds no message in %s', (_, bytes) => {
    expect(readStatusMessage(Buffer.from(bytes))).toBe('');
  });
});
