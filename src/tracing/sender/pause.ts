export type Wait = (forMs: number, signal: AbortSignal) => Promise<void>;

/** Waits for a while, or until the signal says that it is enough; never rejects. */
export function pause(forMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, forMs);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
