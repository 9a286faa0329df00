import fc from 'fast-check';

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 2);
const seed = process.env['FUZZ_SEED'];

/**
 * As many runs as there is time for: two seconds, or FUZZ_SECONDS. Each time with another seed, unless FUZZ_SEED says
 * which; what fails is told with its seed.
 */
export function inTime<Values>(): fc.Parameters<Values> {
  return {
    numRuns: Number.MAX_SAFE_INTEGER,
    plugins: [fc.interruptAfterTimeLimit(seconds * 1000)],
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  };
}

export const limitMs = seconds * 1000 + 60_000;

/** The text with some characters gone, doubled, swapped for others, or from elsewhere. */
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
