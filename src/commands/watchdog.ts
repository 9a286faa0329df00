import { readdirSync, readFileSync } from 'node:fs';
import type { Log } from '../domain/log.ts';
import type { systemClock } from '../domain/system-clock.ts';

type WatchdogOptions = {
  log: Log;
  clock: Pick<typeof systemClock, 'ticks' | 'after'>;
  readFiles?: () => OpenFiles | undefined;
};

export type OpenFiles = { readonly open: number; readonly most: number };

/** Logs when the process was blocked, or has few file descriptors left. Returns a function that stops the watch. */
export function startWatchdog({ log, clock, readFiles = readOpenFiles }: WatchdogOptions): () => void {
  let isShort = false;
  let rounds = 0;
  let cancel = wait();

  function wait(): () => void {
    const dueTicks = clock.ticks() + everyMs;
    return clock.after(everyMs, () => {
      const lateMs = clock.ticks() - dueTicks;
      if (lateMs >= minHeldUpMs) {
        log.warn({ seconds: Math.round(lateMs / 100) / 10 }, 'held up: nothing was polled or served');
      }
      rounds += 1;
      if (rounds % filesEvery === 0) checkFiles();
      cancel = wait();
    });
  }

  function checkFiles(): void {
    const files = readFiles();
    if (files === undefined) return;
    const share = files.open / files.most;
    if (!isShort && share >= shortAbove) {
      isShort = true;
      log.error(files, 'file descriptors running out: connections and polls will fail');
    } else if (isShort && share < fineBelow) {
      isShort = false;
      log.info(files, 'file descriptors available again');
    }
  }

  return () => cancel();
}

const everyMs = 1000;
const minHeldUpMs = 1000;
const filesEvery = 15;
const shortAbove = 0.9;
const fineBelow = 0.75;

/** Reads the number of open files. Returns undefined on systems other than Linux, or if no descriptor is left. */
function readOpenFiles(): OpenFiles | undefined {
  try {
    const [, most] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return most === undefined ? undefined : { open: readdirSync('/proc/self/fd').length, most: Number(most) };
  } catch {
    return undefined;
  }
}
