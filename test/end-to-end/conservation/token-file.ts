import { readFileSync } from 'node:fs';
import type { SecretSource } from '../../../src/api/auth/credentials.ts';

/** A token from a file, read again after the server refused it. */
export function readTokenFile(path: string): SecretSource {
  const value = readFileSync(path, 'utf8').trim();
  return { reveal: () => value, reread: async () => readTokenFile(path) };
}
