import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const inMemory = '/dev/shm';

/** Makes a folder for small files that are often rewritten, in memory if possible. */
export function makeMemoryFolder(prefix: string): string {
  return mkdtempSync(join(existsSync(inMemory) ? inMemory : tmpdir(), prefix));
}
