import { describe, expect, it } from 'vitest';
import { errorKinds } from '../../src/api/errors.ts';
import { readKind, samples } from '../api/decoder-samples.ts';
import { fc } from '../support/property.ts';
import { forAsLong, limitMs, mutated } from './budget.ts';

const inserts = [
  'null',
  '"',
  '{',
  '}',
  '[',
  ']',
  '-1',
  '1e999',
  '9e15',
  '"__proto__":',
  ',',
  '\\u0000',
  'NaN',
] as const;
const cases = fc.oneof(
  ...samples.map(([endpoint, sample]) => mutated([sample], inserts).map((body) => ({ endpoint, body }))),
);

describe('fuzz/decoders', () => {
  it(
    'reads an answer, or fails with a known kind, whatever is changed in it',
    async () => {
      await forAsLong((parameters) =>
        fc.assert(
          fc.property(cases, ({ endpoint, body }) => {
            expect(['answer', ...errorKinds]).toContain(readKind(endpoint, { body }));
            expect(Object.keys(Object.prototype)).toEqual([]);
          }),
          parameters,
        ),
      );
    },
    limitMs,
  );
});
