/** Returns the checksum of two consecutive pieces. `shiftOfSecond` is `toShift` of the length of the second piece. */
export function combineCrc32(first: number, second: number, shiftOfSecond: number): number {
  return (multiply(shiftOfSecond, first) ^ second) >>> 0;
}

/** Returns the factor for a checksum that this number of bytes follows: x to the power of their bits, modulo the polynomial. */
export function toShift(length: number): number {
  let shift = one;
  let power = eightBits;
  for (let left = length; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) shift = multiply(power, shift);
    power = multiply(power, power);
  }
  return shift;
}

/** Returns `toShift` of the sum of two lengths, if `toShift` of each is known. */
export function addShifts(first: number, second: number): number {
  return multiply(first, second);
}

// The lowest power of a polynomial is in the highest bit, as in CRC-32.
const polynomial = 0xedb88320;
const one = 0x80000000;
const eightBits = 0x00800000;

function multiply(left: number, right: number): number {
  let product = 0;
  let moved = right;
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((left & bit) !== 0) product ^= moved;
    moved = (moved & 1) === 0 ? moved >>> 1 : (moved >>> 1) ^ polynomial;
  }
  return product >>> 0;
}
