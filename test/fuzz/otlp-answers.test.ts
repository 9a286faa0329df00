import { describe, expect, it } from 'vitest';
import { toVerdict, type Verdict } from '../../src/tracing/deliver/verdict.ts';
import { fc } from '../support/property.ts';
import { forAsLong, limitMs, mutated } from './budget.ts';

const texts = [
  '{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too long"}}',
  '{"code":3,"message":"bad"}',
] as const;
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  mutated(texts, ['{', '}', '"', '-1', '1e99', 'null', '[]']).map((text) => new TextEncoder().encode(text)),
  // A partial success in protobuf, and damaged forms of it.
  fc.uint8Array({ maxLength: 30 }).map((rest) => new Uint8Array([10, 4 + rest.length, 8, 3, 18, rest.length, ...rest])),
);

describe('fuzz/otlp-answers', () => {
  it(
    'has a verdict on every answer of a trace backend',
    async () => {
      const answer = fc.record({
        status: fc.integer({ min: 100, max: 599 }),
        contentType: fc.constantFrom('', 'application/json', 'application/x-protobuf', 'text/html', 'x\u0000'),
        retryAfter: fc.option(
          fc.oneof(fc.string(), fc.constantFrom('1', '-1', '1e99', 'Wed, 21 Oct 2065 07:28:00 GMT')),
          { nil: undefined },
        ),
        bytes: bytes.map((given) => Buffer.from(given)),
        isCut: fc.boolean(),
      });
      await forAsLong((parameters) =>
        fc.assert(
          fc.property(answer, (given) => {
            const verdict = toVerdict(given, Date.parse('2026-01-15T12:00:00Z'));
            expect(isSound(verdict, given.status)).toBe(true);
          }),
          parameters,
        ),
      );
    },
    limitMs,
  );
});

function isSound(verdict: Verdict, status: number): boolean {
  if (verdict.kind === 'refused') return status >= 400;
  if (verdict.kind === 'wait')
    return verdict.askedMs === undefined || (verdict.askedMs >= 0 && verdict.askedMs <= 300_000);
  return status < 300 && Number.isSafeInteger(verdict.rejectedSpans) && verdict.rejectedSpans >= 0;
}
