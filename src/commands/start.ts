import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { findDangerAbove } from '../domain/directory-danger.ts';
import { isBundle, toPackageFolder } from '../domain/package-folder.ts';
import { toVisibleLines } from '../domain/visible-text.ts';
import { createProgress } from './command.ts';
import { endOnFaults } from './faults.ts';
import { leaveOnStopSignals } from './stop-signals.ts';

/** Prepares the process and runs the command line. */
export async function start(): Promise<void> {
  settleProcess();
  process.title = 'automation-exporter';
  // Only the user of this process may read the files that it writes.
  process.umask(0o077);
  leaveOnStopSignals();
  endOnFaults();
  keepHeapSmall();
  // Before anything else is imported: what was compiled once starts in half the time.
  refuseForeignModules((text) => process.stderr.write(text));
  const refused = keepCompiledCode(process.env);
  if (refused !== undefined) process.stderr.write(`${refused}\n`);
  const { runCommandLine } = await import('./command-line.ts');

  process.exitCode = await runCommandLine({
    argv: process.argv.slice(2),
    env: process.env,
    write: (text) => process.stdout.write(toVisibleLines(text)),
    complain: (text) => process.stderr.write(toVisibleLines(text)),
    progress: createProgress(process.stderr, process.env),
  });
}

/**
 * Refuses code from anywhere but the exporter itself and the folder that holds its packages. Some packages look for others that
 * are not installed, and Node then looks in the home of the user and in every directory above, where somebody else may have put
 * a package of that name.
 */
function refuseForeignModules(complain: (text: string) => void): void {
  const homes = toHomes();
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      if (!found.url.startsWith('file:') || homes.some((home) => found.url.startsWith(home))) return found;
      const path = fileURLToPath(found.url);
      complain(`${path} is not loaded: it does not belong to the exporter; remove it\n`);
      // As if it were not there, which is what it is for who asks.
      throw Object.assign(new Error(`Cannot find module '${specifier}'`), { code: 'MODULE_NOT_FOUND' });
    },
  });
}

/** Addresses with which everything of ours begins: the packages of the sources may lie above their folder. */
function toHomes(): string[] {
  const own = toPackageFolder().href;
  if (isBundle()) return [own];
  const [packages] = import.meta.resolve('undici').split('/node_modules/');
  return [own, `${packages}/node_modules/`];
}

/** Flags of Node that have an effect only when a process begins. */
export const nodeFlags: readonly string[] = ['--disable-sigusr1', '--max-semi-space-size=1', '--optimize-for-size'];

/**
 * Variables of the allocator. Memory of large answers goes back to the system, which would otherwise keep some 40 MB of it; all
 * threads share one arena, because with one each they kept 3 to 5 MB more.
 */
export const allocatorSettings = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
} as const;

/**
 * Begins this process again, under the same number, with the settings that suit a small daemon, however it was started. Settings
 * of the allocator that are there already mean that a person chose, or that this was done.
 */
function settleProcess(): void {
  const isSettled = Object.keys(allocatorSettings).some((name) => process.env[name] !== undefined);
  if (isSettled || !isBundle() || process.platform !== 'linux' || process.execve === undefined) return;
  const [, ...own] = process.argv;
  process.execve(process.execPath, [process.execPath, ...nodeFlags, ...process.execArgv, ...own], {
    ...process.env,
    ...allocatorSettings,
  });
}

/** A daemon runs next to others: memory is collected before the heap grows, not after. */
function keepHeapSmall(): void {
  for (const flag of ['--semi-space-growth-factor=1', '--heap-growing-percent=50']) setFlagsFromString(flag);
}

/** The only user who may store compiled code for us: whoever can write it decides what this process runs. */
type CacheOwner = { userId: number };

/**
 * Keeps compiled code in the user's cache directory, which halves the time of a start. Returns the reason for not using an
 * existing directory; undefined if it is used, or if no directory can be made.
 */
function keepCompiledCode(env: Readonly<Record<string, string | undefined>>): string | undefined {
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
