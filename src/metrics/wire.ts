export type Wire = ReturnType<typeof createWire>;

type Append = (source: Buffer, from: number, until: number) => void;

/** Writes the wire format of protocol buffers into memory that grows. */
export function createWire(capacity = 1024) {
  let bytes = Buffer.allocUnsafeSlow(capacity);
  let length = 0;

  function reserve(count: number): void {
    if (length + count <= bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(length + count, 2 * bytes.length));
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
  }

  /** Writes an integer that is not negative. Beyond 32 bits, the number is divided, because shifts do not work. */
  function varint(value: number): void {
    reserve(10);
    let rest = value;
    while (rest > 0x7f) {
      bytes[length++] = (rest % 128) + 128;
      rest = rest > 0x7fffffff ? Math.floor(rest / 128) : rest >>> 7;
    }
    bytes[length++] = rest;
  }

  function append(source: Buffer, from: number, to: number): void {
    reserve(to - from);
    // For few bytes, a loop is faster than a call.
    if (to - from > 64) source.copy(bytes, length, from, to);
    else for (let at = from; at < to; at++) bytes[length + at - from] = source[at] ?? 0;
    length += to - from;
  }

  return {
    varint,
    append,
    length: () => length,
    clear: () => {
      length = 0;
    },
    /** Returns a copy of the bytes, and empties the buffer. */
    take: () => {
      const taken = Buffer.allocUnsafeSlow(length);
      bytes.copy(taken, 0, 0, length);
      length = 0;
      return taken;
    },
    integer: (field: number, value: number) => {
      varint(field << 3);
      varint(value);
    },
    /** Writes a signed integer in the "zigzag" encoding. */
    signed: (field: number, value: number) => {
      varint(field << 3);
      varint(value < 0 ? -2 * value - 1 : 2 * value);
    },
    double: (field: number, value: number) => {
      varint((field << 3) | 1);
      reserve(8);
      length = bytes.writeDoubleLE(value, length);
    },
    text: (field: number, value: string) => {
      const encoded = Buffer.from(value, 'utf8');
      varint((field << 3) | 2);
      varint(encoded.length);
      append(encoded, 0, encoded.length);
    },
    bytes: (field: number, source: Buffer, from = 0, to = source.length) => {
      varint((field << 3) | 2);
      varint(to - from);
      append(source, from, to);
    },
    message: (field: number, other: { length: () => number; moveTo: (to: Append) => void }) => {
      varint((field << 3) | 2);
      varint(other.length());
      other.moveTo(append);
    },
    moveTo: (to: Append) => {
      to(bytes, 0, length);
      length = 0;
    },
  };
}

/** Writes a `Timestamp` message, to the millisecond. */
export function toTime(seconds: number): Wire {
  const time = createWire(16);
  time.integer(1, Math.floor(seconds));
  time.integer(2, Math.round((seconds % 1) * 1000) * 1_000_000);
  return time;
}
