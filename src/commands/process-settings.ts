import { setFlagsFromString } from 'node:v8';
import { isBundle } from '../domain/package-folder.ts';

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
export function settleProcess(): void {
  const isSettled = Object.keys(allocatorSettings).some((name) => process.env[name] !== undefined);
  if (isSettled || !isBundle() || process.platform !== 'linux' || process.execve === undefined) return;
  const [, ...own] = process.argv;
  process.execve(process.execPath, [process.execPath, ...nodeFlags, ...process.execArgv, ...own], {
    ...process.env,
    ...allocatorSettings,
  });
}

/** A daemon runs next to others: memory is collected before the heap grows, not after. */
export function keepHeapSmall(): void {
  for (const flag of ['--semi-space-growth-factor=1', '--heap-growing-percent=50']) setFlagsFromString(flag);
}
