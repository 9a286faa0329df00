import { resolve } from 'node:path';

/** Explains why a file could not be read, as the end of a sentence. */
export function describeReadError(error: unknown): string {
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
  return reasons.get(code) ?? `cannot be read (${code})`;
}

/** Describes a file and its folder. A text that does not look like a path may be a misplaced secret, so it is hidden. */
export function describePath(path: string): string {
  if (/^(\.{0,2}|[A-Za-z]:)[\\/]/.test(path)) return `the file ${JSON.stringify(resolve(path))}`;
  return `the file, relative to ${JSON.stringify(resolve('.'))},`;
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'does not exist'],
  ['ENOTDIR', 'does not exist'],
  ['EACCES', 'cannot be read by this user'],
  ['EPERM', 'cannot be read by this user'],
  ['EISDIR', 'is a directory'],
]);
