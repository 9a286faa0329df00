/**
 * Reads the message of a `google.rpc.Status` (field 2), the answer of OTLP endpoints to what they refuse; empty if the bytes
 * are not one. OpenTelemetry's own package only reads answers of success.
 */
export function readStatusMessage(bytes: Uint8Array): string {
  let at = 0;
  function readNumber(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined) return Number.NaN;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return Number.NaN;
  }

  while (at < bytes.length) {
    const tag = readNumber();
    const wireType = tag % 8;
    if (wireType === 0) readNumber();
    else if (wireType === 2) {
      const end = readNumber() + at;
      if (!(end <= bytes.length)) return '';
      if (tag === messageTag) return Buffer.from(bytes.subarray(at, end)).toString('utf8');
      at = end;
    } else return '';
  }
  return '';
}

const messageTag = 2 * 8 + 2;
