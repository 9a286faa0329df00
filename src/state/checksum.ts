import { crc32 } from 'node:zlib';

/** A checksum over all that a row keeps, its key included: a body under another key is damaged too. */
export function toChecksum(parts: readonly (string | number | Uint8Array)[]): number {
  let sum = 0;
  for (const part of parts) sum = crc32(part instanceof Uint8Array ? part : `${part}\0`, sum);
  return sum;
}
