import { fc } from '../support/property.ts';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 2);
const firstSeed = Number(process.env['FUZZ_SEED'] ?? 1);

/** Checks a property with one seed after the other for two seconds, or for FUZZ_SECONDS; FUZZ_SEED sets the first seed. */
export async function forAsLong(check: (parameters: { readonly seed: number; readonly numRuns: number }) => unknown) {
  const untilMs = performance.now() + seconds * 1000;
  for (let seed = firstSeed; performance.now() < untilMs; seed += 1) await check({ seed, numRuns: 20 });
}

export const limitMs = seconds * 1000 + 60_000;

/** The text after some characters were removed, doubled or replaced, or inserted from elsewhere. */
export function mutated(
  samples: readonly [string, ...string[]],
  inserts: readonly [string, ...string[]],
): fc.Arbitrary<string> {
  const edit = fc.record({
    at: fc.nat(),
    length: fc.nat(12),
    insert: fc.oneof(fc.constantFrom(...inserts), fc.string({ unit: 'binary', maxLength: 4 }), fc.constant('')),
  });
  return fc.tuple(fc.constantFrom(...samples), fc.array(edit, { maxLength: 6 })).map(([sample, edits]) => {
    let text = sample;
    for (const { at, length, insert } of edits) {
      const from = at % (text.length + 1);
      text = text.slice(0, from) + insert + text.slice(from + length);
    }
    return text;
  });
}
