import { readFileSync } from 'node:fs';
import type { SecretSource } from '../../../src/api/auth/credentials.ts';

/** A token that is in a file, and read again when it was refused. */
export function readTokenFile(path: string): SecretSource {
  const value = readFileSync(path, 'utf8').trim();
  return { reveal: () => value, reread: async () => readTokenFile(path) };
}
