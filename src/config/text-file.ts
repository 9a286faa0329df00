import { open } from 'node:fs/promises';

/** The most that a configuration file may hold. */
export const maxFileBytes = 1024 * 1024;

/** Reads a UTF-8 text file, and no more of it than a configuration may hold; for `loadConfig` to be handed. */
export async function readTextFile(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const chunks: Buffer[] = [];
    let total = 0;
    while (total <= maxFileBytes) {
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(65_536) });
      if (bytesRead === 0) break;
      total += bytesRead;
      chunks.push(buffer.subarray(0, bytesRead));
    }
    if (total > maxFileBytes) throw Object.assign(new RangeError('file too large'), { code: 'EFBIG' });
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } finally {
    await file.close();
  }
}

/** Says why a file could not be read, as the end of a sentence. */
export function describeReadError(error: unknown): string {
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
  return reasons.get(code) ?? `can not be read (${code})`;
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'does not exist'],
  ['ENOTDIR', 'does not exist'],
  ['EACCES', 'may not be read by this user'],
  ['EPERM', 'may not be read by this user'],
  ['EISDIR', 'is a directory'],
  ['EFBIG', 'is larger than 1 MiB'],
  ['ERR_ENCODING_INVALID_ENCODED_DATA', 'is not UTF-8 text'],
]);
