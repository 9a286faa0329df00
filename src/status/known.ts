import type { Elsewhere } from './status.ts';
import { type Silence, toSilenceText, toWatcherText } from './watcher.ts';

/** Returns why the runs of a server are unknown or old; null if they are known. */
export function toUnknown(found: object | undefined, silence: Silence | Elsewhere | undefined): string | null {
  if (silence !== undefined && 'watcher' in silence) return toWatcherText(silence);
  if (silence !== undefined) return `${toSilenceText(silence)}; everything else is the last known state`;
  return found === undefined
    ? 'the schedules of the server are not watched: switch on the collectors schedule and executions'
    : null;
}

export function toIso(atMs: number): string {
  return new Date(atMs).toISOString();
}
