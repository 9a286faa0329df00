import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { findDangerAbove } from '../domain/directory-danger.ts';
import { toVisibleLines } from '../domain/format.ts';
import { isBundle, toPackageFolder } from '../domain/package-folder.ts';
import { createProgress } from './command.ts';
import { endOnFaults } from './faults.ts';
import { leaveOnStopSignals, noteReloadSignals } from './stop-signals.ts';

export async function start(): Promise<void> {
  settleProcess();
  process.title = 'automation-exporter';
  // The mode of new files lets only the user of this process read them.
  process.umask(0o077);
  leaveOnStopSignals();
  noteReloadSignals();
  endOnFaults();
  keepHeapSmall();
  // The calls come before other imports, so that they affect these imports: cached compiled code halves the time of a start.
  refuseForeignModules((text) => process.stderr.write(text));
  const refused = keepCompiledCode(process.env);
  if (refused !== undefined) process.stderr.write(`${refused}\n`);
  const { runCommandLine } = await import('./command-line.ts');

  process.exitCode = await runCommandLine({
    argv: process.argv.slice(2),
    env: process.env,
    write: (text) => process.stdout.write(toVisibleLines(text)),
    copy: (text) => process.stdout.write(process.stdout.isTTY ? toVisibleLines(text) : text),
    complain: (text) => process.stderr.write(toVisibleLines(text)),
    progress: createProgress(process.stderr, process.env),
  });
}

/**
 * Permits only code of the exporter and of the folder with its packages. Some packages search for packages that are not
 * installed. For a missing package, Node.js searches the user's home and all parent directories, where another user may have put
 * it.
 */
function refuseForeignModules(complain: (text: string) => void): void {
  const homes = toHomes();
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      if (!found.url.startsWith('file:') || homes.some((home) => found.url.startsWith(home))) return found;
      const path = fileURLToPath(found.url);
      complain(`${path} is not loaded: it does not belong to the exporter; remove it\n`);
      // The calling package expects the error of a missing package.
      throw Object.assign(new Error(`Cannot find module '${specifier}'`), { code: 'MODULE_NOT_FOUND' });
    },
  });
}

/** Returns folders with permitted code. If the exporter runs from source files, its packages may be in a parent folder. */
function toHomes(): string[] {
  const own = toPackageFolder().href;
  if (isBundle()) return [own];
  const [packages] = import.meta.resolve('undici').split('/node_modules/');
  return [own, `${packages}/node_modules/`];
}

export const nodeFlags: readonly string[] = ['--disable-sigusr1', '--max-semi-space-size=1', '--optimize-for-size'];

/** Variables of the allocator: memory of large responses returns to the system, and all threads share one arena. */
export const allocatorSettings = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
} as const;

/**
 * Restarts this process under the same id with the settings for a small daemon. Does nothing if the settings exist, from a
 * person or an earlier restart. Does nothing if systemd passed a socket, because a restart would close it.
 */
function settleProcess(): void {
  const isSettled = Object.keys(allocatorSettings).some((name) => process.env[name] !== undefined);
  if (
    isSettled ||
    process.env['LISTEN_FDS'] !== undefined ||
    !isBundle() ||
    process.platform !== 'linux' ||
    process.execve === undefined
  )
    return;
  const [, ...own] = process.argv;
  process.execve(process.execPath, [process.execPath, ...nodeFlags, ...process.execArgv, ...own], {
    ...process.env,
    ...allocatorSettings,
  });
}

/** Makes the garbage collector run before the heap grows, because a daemon shares its machine. */
function keepHeapSmall(): void {
  for (const flag of ['--semi-space-growth-factor=1', '--heap-growing-percent=50']) setFlagsFromString(flag);
}

/** The only user who may store compiled code. Whoever can write compiled code controls the process. */
type CacheOwner = { userId: number };

/**
 * Stores compiled code in the cache directory of the user, which halves the duration of a start. Returns why an existing
 * directory is not used; undefined if it is used, or if none can be created.
 */
function keepCompiledCode(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const userId = process.getuid?.();
  // A directory that the user has set for Node.js is already in use.
  if (userId === undefined || env['NODE_COMPILE_CACHE'] !== undefined) return undefined;
  const directory = join(toCacheHome(env), 'automation-exporter-code');
  try {
    mkdirSync(dirname(directory), { recursive: true, mode: 0o700 });
    makeDirectory(directory);
    const parent = lstatSync(dirname(directory));
    const danger = findDanger(lstatSync(directory), parent, { userId });
    if (danger !== undefined) return `the compile cache ${directory} is not used: ${danger}`;
  } catch {
    // Without a writable home directory, nothing is cached.
    return undefined;
  }
  enableCompileCache(directory);
  return undefined;
}

/** Returns how another user could put code into a directory: by writing to it, or by replacing it in its parent. */
export function findDanger(
  found: Pick<Stats, 'uid' | 'mode' | 'isDirectory'>,
  parent: Pick<Stats, 'uid' | 'mode'>,
  { userId }: CacheOwner,
): string | undefined {
  if (!found.isDirectory()) return 'the path is not a directory; remove it';
  if (found.uid !== userId) return `the directory belongs to another user (${found.uid}); remove it`;
  if ((found.mode & 0o077) !== 0) return 'other users can use the directory; chmod 700 it, or remove it';
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
