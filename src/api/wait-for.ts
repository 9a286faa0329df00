import type { Cancel, Clock } from '../domain/clock.ts';

type Patience = { forMs?: number; signal: AbortSignal | undefined; orElse: () => Error; clock: Pick<Clock, 'after'> };

/** Waits for shared work: our time may end before the work does, which continues without us. */
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
    // The fault is handled even if no caller waits any more.
    shared.then(resolve, reject).finally(stopWaiting);
    if (signal?.aborted === true) {
      giveUp();
      return;
    }
    signal?.addEventListener('abort', giveUp);
    if (forMs !== undefined) cancel = clock.after(Math.max(0, forMs), giveUp);
  });
}
