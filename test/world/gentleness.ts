import type { Plan } from './plan.ts';

type Gentleness = { readonly sent: (atMs: number, daemonSinceMs: number) => void; readonly ended: () => void };

/** No window of a second has more requests than the budget allows. */
export function createGentleness(
  { requestsPerSecond }: Plan,
  onFault: (oracle: string, says: string) => void,
): Gentleness {
  const starts = Math.max(1, Math.floor(requestsPerSecond));
  const windowMs = (starts / requestsPerSecond) * 1000;
  const recent: number[] = [];
  let sinceMs = 0;
  return {
    sent: (atMs, daemonSinceMs) => {
      if (daemonSinceMs !== sinceMs) recent.length = 0;
      sinceMs = daemonSinceMs;
      recent.push(atMs);
      if (recent.length <= starts) return;
      const first = recent.shift() ?? 0;
      // The daemon's seconds differ a little from true seconds.
      if (atMs - first < windowMs * 0.999 - 1)
        onFault('requests within the budget', `${starts + 1} within ${(atMs - first).toFixed(1)} ms`);
    },
    ended: () => undefined,
  };
}
