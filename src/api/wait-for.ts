import type { Cancel, Clock } from '../domain/clock.ts';

type Patience = {
  readonly forMs?: number;
  readonly signal: AbortSignal | undefined;
  readonly orElse: () => Error;
  readonly clock: Pick<Clock, 'after'>;
};

/** What others share and we only wait for: our time may be over before it is, and it goes on without us. */
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
    // A fault is heard even where nobody is left to wait for it.
    shared.then(resolve, reject).finally(stopWaiting);
    if (signal?.aborted === true) {
      giveUp();
      return;
    }
    signal?.addEventListener('abort', giveUp);
    if (forMs !== undefined) cancel = clock.after(Math.max(0, forMs), giveUp);
  });
}
