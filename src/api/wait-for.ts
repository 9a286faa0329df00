import type { Cancel, Clock } from '../domain/clock.ts';

type Patience = { forMs?: number; signal: AbortSignal | undefined; orElse: () => Error; clock: Pick<Clock, 'after'> };

/** Waits for shared work with its own timeout; the work continues after it. */
export function waitFor<Value>(shared: Promise<Value>, { forMs, signal, orElse, clock }: Patience): Promise<Value> {
  return new Promise((resolve, reject) => {
    let cancel: Cancel | undefined;
    function stopWaiting(): void {
      cancel?.();
      signal?.removeEventListener('abort', giveUp);
    }
    function giveUp(): void {
      stopWaiting();
      reject(orElse());
    }
    // Handles the error even if no caller waits any longer.
    shared.then(resolve, reject).finally(stopWaiting);
    if (signal?.aborted === true) {
      giveUp();
      return;
    }
    signal?.addEventListener('abort', giveUp);
    if (forMs !== undefined) cancel = clock.after(Math.max(0, forMs), giveUp);
  });
}
