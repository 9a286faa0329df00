import { timingSafeEqual } from 'node:crypto';
import type { BcryptHash } from '../../domain/web-config.ts';

export type Bcrypt = ReturnType<typeof createBcrypt>;

/** Compares passwords in slices of a few milliseconds. See "A Future-Adaptable Password Scheme" (Provos, Mazières, 1999). */
export function createBcrypt(nextTurn: () => Promise<void>) {
  const start = computeStart(stateWords);

  /** Runs the rounds after number `after`, up to number `to`. */
  async function stretch(state: Int32Array, keys: readonly Int32Array[], rounds: Rounds): Promise<void> {
    for (let done = rounds.after + 1; done <= rounds.to; done += 1) {
      for (const key of keys) expand(state, key, noSalt);
      if (done % roundsPerTurn === 0) await nextTurn();
    }
  }

  return {
    /** Reports whether a hash is that of a password. Takes at least the time of a hash of `minCost`. */
    compare: async (password: string, { cost, salt, digest }: BcryptHash, minCost: number) => {
      const state = Int32Array.from(start);
      const key = toKey(Buffer.concat([Buffer.from(password, 'utf8'), Buffer.of(0)]).subarray(0, maxPasswordLength));
      const saltWords = toWords(salt);
      const keys = [key, toKey(salt)];
      expand(state, key, saltWords);
      await stretch(state, keys, { after: 0, to: 2 ** cost });
      const found = finish(state).subarray(0, digest.length);
      // The result of the additional rounds is ignored: all comparisons must take the same time.
      await stretch(state, keys, { after: 2 ** cost, to: 2 ** minCost });
      return timingSafeEqual(found, digest);
    },
  };
}

type Rounds = { readonly after: number; readonly to: number };

/** The number of rounds in a turn, which takes about 3 ms. */
const roundsPerTurn = 32;
const maxPasswordLength = 72;
const keyWords = 18;
const tableWords = 256;
const stateWords = keyWords + 4 * tableWords;
const noSalt = new Int32Array(4);

/** Mixes a key into the state, then mixes the salted state into itself. */
function expand(state: Int32Array, key: Int32Array, salt: Int32Array): void {
  for (let index = 0; index < keyWords; index += 1) state[index] = at(state, index) ^ at(key, index);
  const block = new Int32Array(2);
  for (let index = 0, from = 0; index < stateWords; index += 2, from ^= 2) {
    block[0] = at(block, 0) ^ at(salt, from);
    block[1] = at(block, 1) ^ at(salt, from + 1);
    encipher(state, block);
    state[index] = at(block, 0);
    state[index + 1] = at(block, 1);
  }
}

function encipher(state: Int32Array, block: Int32Array): void {
  let left = at(block, 0) ^ at(state, 0);
  let right = at(block, 1);
  for (let round = 1; round <= 16; round += 2) {
    right ^= mix(state, left) ^ at(state, round);
    left ^= mix(state, right) ^ at(state, round + 1);
  }
  block[0] = right ^ at(state, keyWords - 1);
  block[1] = left;
}

function mix(state: Int32Array, word: number): number {
  const first = at(state, keyWords + (word >>> 24)) + at(state, keyWords + tableWords + ((word >>> 16) & 255));
  const second = first ^ at(state, keyWords + 2 * tableWords + ((word >>> 8) & 255));
  return (second + at(state, keyWords + 3 * tableWords + (word & 255))) | 0;
}

/** Encrypts a fixed text 64 times with the state. */
function finish(state: Int32Array): Buffer {
  const words = toWords(Buffer.from('OrpheanBeholderScryDoubt', 'latin1'));
  const result = Buffer.alloc(words.length * 4);
  for (let index = 0; index < words.length; index += 2) {
    const block = words.subarray(index, index + 2);
    for (let time = 0; time < 64; time += 1) encipher(state, block);
    result.writeInt32BE(at(block, 0), index * 4);
    result.writeInt32BE(at(block, 1), index * 4 + 4);
  }
  return result;
}

/** Repeats the bytes until there is one word for each key of the state. */
function toKey(bytes: Uint8Array): Int32Array {
  return toWords(Uint8Array.from({ length: keyWords * 4 }, (_, index) => bytes[index % bytes.length] ?? 0));
}

function toWords(bytes: Uint8Array): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Int32Array.from({ length: bytes.length / 4 }, (_, index) => view.getInt32(index * 4));
}

/** Returns the word at an index. The index must be within the array. */
function at(words: Int32Array, index: number): number {
  return words[index] ?? 0;
}

/** Computes the initial keys and tables of Blowfish, which are the first bits of the fractional part of pi. */
export function computeStart(words: number): Int32Array {
  const bits = words * 32 + guardBits;
  // Machin's formula for pi.
  const pi = 16n * computeArctan(5, bits) - 4n * computeArctan(239, bits);
  const fraction = (pi & ((1n << BigInt(bits)) - 1n)) >> BigInt(guardBits);
  const digits = fraction.toString(16).padStart(words * 8, '0');
  return Int32Array.from({ length: words }, (_, index) => Number.parseInt(digits.slice(index * 8, index * 8 + 8), 16));
}

/** The number of extra bits, which exceeds the errors of both series together. */
const guardBits = 64;

function computeArctan(x: number, bits: number): bigint {
  const square = BigInt(x * x);
  const terms = Math.ceil(bits / Math.log2(x * x)) + 1;
  const { over, under } = add(0, terms);
  return ((over * BigInt(x)) << BigInt(bits)) / (under * square ** BigInt(terms));

  /** Sums the terms `from` to `to - 1` by halves. Returns the sum as the fraction over / (under × square^count). */
  function add(from: number, to: number): { readonly over: bigint; readonly under: bigint } {
    if (to - from === 1) return { over: from % 2 === 0 ? 1n : -1n, under: BigInt(2 * from + 1) };
    const middle = (from + to) >> 1;
    const left = add(from, middle);
    const right = add(middle, to);
    const shift = square ** BigInt(to - middle);
    return { over: left.over * right.under * shift + right.over * left.under, under: left.under * right.under };
  }
}
