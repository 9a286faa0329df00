/** Computes where Blowfish starts: its keys and tables are the first bits of the fraction of pi. */
export function computeStart(words: number): Int32Array {
  const bits = words * 32 + guardBits;
  // Machin's formula.
  const pi = 16n * computeArctan(5, bits) - 4n * computeArctan(239, bits);
  const fraction = (pi & ((1n << BigInt(bits)) - 1n)) >> BigInt(guardBits);
  const digits = fraction.toString(16).padStart(words * 8, '0');
  return Int32Array.from({ length: words }, (_, index) => Number.parseInt(digits.slice(index * 8, index * 8 + 8), 16));
}

/** More than the errors of both series together. */
const guardBits = 64;

/** Computes the arctangent of 1/x, as a multiple of 2^-bits. */
function computeArctan(x: number, bits: number): bigint {
  const square = BigInt(x * x);
  const terms = Math.ceil(bits / Math.log2(x * x)) + 1;
  const { over, under } = add(0, terms);
  return ((over * BigInt(x)) << BigInt(bits)) / (under * square ** BigInt(terms));

  /** The sum of the terms from one to before another, as over / (under × square^count): halves make large factors of equal size. */
  function add(from: number, to: number): { readonly over: bigint; readonly under: bigint } {
    if (to - from === 1) return { over: from % 2 === 0 ? 1n : -1n, under: BigInt(2 * from + 1) };
    const middle = (from + to) >> 1;
    const left = add(from, middle);
    const right = add(middle, to);
    const shift = square ** BigInt(to - middle);
    return { over: left.over * right.under * shift + right.over * left.under, under: left.under * right.under };
  }
}
