/** The only source of time, timers and randomness. Times are in ms. */
export type Clock = {
  /** The time since 1970. The clock can be set forward and back. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. Use this clock to measure durations. */
  readonly ticks: () => number;
  /** Milliseconds of a monotonic clock that stops while the process is suspended. */
  readonly awakeTicks: () => number;
  /** Runs a function once after the given time. Returns a function that cancels the call. */
  readonly after: (ms: number, run: () => void) => Cancel;
  /** Resolves in the next turn of the event loop, after everything that is already waiting. */
  readonly nextTurn: () => Promise<void>;
  /** Returns a random number, at least 0 and less than 1. */
  readonly random: () => number;
};

export type Cancel = () => void;

/** Resolves after the given time. Rejects when the signal aborts. */
export function sleep(clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(toAbortError(signal));
      return;
    }
    const stop = (): void => {
      cancel();
      reject(toAbortError(signal));
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Resolves with the result of the work; rejects if the work takes longer than `ms`. */
export async function within<Answer>(clock: Pick<Clock, 'after'>, ms: number, work: Promise<Answer>): Promise<Answer> {
  let cancel: Cancel = () => undefined;
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(ms, () => reject(new Error(`no answer within ${ms / 1000} s`)));
  });
  return Promise.race([work, late]).finally(() => cancel());
}

function toAbortError(signal: AbortSignal | undefined): Error {
  const error = new Error('the wait was aborted', { cause: signal?.reason });
  error.name = 'AbortError';
  return error;
}

type Patience = { forMs?: number; signal: AbortSignal | undefined; orElse: () => Error; clock: Pick<Clock, 'after'> };

/** Waits for shared work with the timeout of the caller. The work itself continues. */
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
    // `then` also handles the error if no caller is waiting any more.
    shared.then(resolve, reject).finally(stopWaiting);
    if (signal?.aborted === true) {
      giveUp();
      return;
    }
    signal?.addEventListener('abort', giveUp);
    if (forMs !== undefined) cancel = clock.after(Math.max(0, forMs), giveUp);
  });
}
