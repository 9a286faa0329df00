import type { Clock } from '../../domain/clock.ts';

export type Wait = (forMs: number, signal: AbortSignal) => Promise<void>;

/** Waits for a time, or until the signal aborts. Never rejects. */
export function createWait(clock: Pick<Clock, 'after'>): Wait {
  return (forMs, signal) =>
    new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = clock.after(forMs, end);
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
    });
}
