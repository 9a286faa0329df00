/** A field of a protobuf message: its number, and what it holds: a number as such, all else as its bytes. */
export type Field = { readonly number: number; readonly value: bigint | Buffer };

/** The fields of a protobuf message, one after the other; throws where the bytes are none. */
export function* readFields(bytes: Buffer): Generator<Field> {
  for (let at = 0; at < bytes.length; ) {
    const tag = readNumber(bytes, at);
    const number = Number(tag.value >> 3n);
    const wireType = Number(tag.value & 7n);
    if (wireType === 0) {
      const { value, end } = readNumber(bytes, tag.end);
      yield { number, value };
      at = end;
      continue;
    }
    const { start, size } = readExtent(bytes, tag.end, wireType);
    if (size > bytes.length - start) throw new Error('A field is longer than its message.');
    yield { number, value: bytes.subarray(start, start + size) };
    at = start + size;
  }
}

const sizes = new Map([
  [1, 8],
  [5, 4],
]);

function readExtent(bytes: Buffer, at: number, wireType: number): { readonly start: number; readonly size: number } {
  if (wireType === 2) {
    const { value, end } = readNumber(bytes, at);
    return { start: end, size: Number(value) };
  }
  const size = sizes.get(wireType);
  if (size === undefined) throw new Error(`No field has the wire type ${wireType}.`);
  return { start: at, size };
}

/** Seven bits a byte, the lowest first; the highest bit says that more follow. */
function readNumber(bytes: Buffer, start: number): { readonly value: bigint; readonly end: number } {
  let value = 0n;
  for (let place = 0; place < 10; place += 1) {
    const byte = bytes[start + place];
    if (byte === undefined) throw new Error('The message ends within a field.');
    value |= BigInt(byte & 0x7f) << BigInt(place * 7);
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: start + place + 1 };
  }
  throw new Error('A number is longer than ten bytes.');
}
