import { crc32 } from 'node:zlib';

/** Returns a checksum over a row including its key: a body under another key is damaged too. */
export function toChecksum(parts: readonly (string | number | Uint8Array)[]): number {
  let sum = 0;
  for (const part of parts) sum = crc32(part instanceof Uint8Array ? part : `${part}\0`, sum);
  return sum;
}
