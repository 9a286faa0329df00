import type { Elsewhere } from './status.ts';
import { type Silence, toSilenceText, toWatcherText } from './watcher.ts';

/** Why nothing is known of the runs of a server, or what is known is old; null if all is well. */
export function toUnknown(found: object | undefined, silence: Silence | Elsewhere | undefined): string | null {
  if (silence !== undefined && 'watcher' in silence) return toWatcherText(silence);
  if (silence !== undefined) return `${toSilenceText(silence)}; the rest was known before`;
  return found === undefined ? 'its schedules are not watched: switch on the collectors schedule and executions' : null;
}

export function toIso(atMs: number): string {
  return new Date(atMs).toISOString();
}
