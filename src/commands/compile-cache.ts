import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { findDangerAbove } from '../domain/directory-danger.ts';

/** The only user who may store compiled code for us: whoever can write it decides what this process runs. */
export type CacheOwner = { readonly userId: number };

/**
 * Keeps compiled code in the user's cache directory, which halves the time of a start. Returns the reason for not using an
 * existing directory; undefined if it is used, or if no directory can be made.
 */
export function keepCompiledCode(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const userId = process.getuid?.();
  // A directory that the user named for Node was in use before this line ran.
  if (userId === undefined || env['NODE_COMPILE_CACHE'] !== undefined) return undefined;
  const directory = join(toCacheHome(env), 'automation-exporter-code');
  try {
    mkdirSync(dirname(directory), { recursive: true, mode: 0o700 });
    makeDirectory(directory);
    const parent = lstatSync(dirname(directory));
    const danger = findDanger(lstatSync(directory), parent, { userId });
    if (danger !== undefined) return `the compile cache ${directory} is not used: ${danger}`;
  } catch {
    // No home, or none that can be written: the start takes longer.
    return undefined;
  }
  enableCompileCache(directory);
  return undefined;
}

/** Finds a way in which another user could put code into a directory; the parent decides who can replace it. */
export function findDanger(
  found: Pick<Stats, 'uid' | 'mode' | 'isDirectory'>,
  parent: Pick<Stats, 'uid' | 'mode'>,
  { userId }: CacheOwner,
): string | undefined {
  if (!found.isDirectory()) return 'it is not a directory; remove it';
  if (found.uid !== userId) return `it belongs to another user (${found.uid}); remove it`;
  if ((found.mode & 0o077) !== 0) return 'others may use it; chmod 700 it, or remove it';
  return findDangerAbove(parent, { userId, writers: 0o022 });
}

function toCacheHome({ XDG_CACHE_HOME: home = '' }: Readonly<Record<string, string | undefined>>): string {
  return isAbsolute(home) ? home : join(homedir(), '.cache');
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  }
}
