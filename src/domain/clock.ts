/** Clocks, timers and chance: the one way by which any part of the daemon learns of time. Times are in ms. */
export type Clock = {
  /** Since 1970, as people tell time; it can be set, forwards and backwards. */
  readonly now: () => number;
  /** Since some moment; it only ever goes forwards. What lasts is measured with this one. */
  readonly ticks: () => number;
  /** Runs something once after so long; the function that is returned cancels it. */
  readonly after: (ms: number, run: () => void) => Cancel;
  /** Resolves in the next turn of the event loop: whatever else waits comes first. */
  readonly nextTurn: () => Promise<void>;
  /** At least 0 and less than 1. */
  readonly random: () => number;
};

export type Cancel = () => void;

/** Resolves after so long; rejects at the signal's end. */
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

function toAbortError(signal: AbortSignal | undefined): Error {
  const error = new Error('the wait was aborted', { cause: signal?.reason });
  error.name = 'AbortError';
  return error;
}
