export type RateLimit = { readonly everyMs: number; readonly burst: number };

/** Allows a burst of requests, and one more each time the interval has passed. */
export function createRateLimit(ticks: () => number): (limit: RateLimit | undefined) => boolean {
  let tokens = Number.POSITIVE_INFINITY;
  let seenTicks = ticks();
  return (limit) => {
    const now = ticks();
    const passed = now - seenTicks;
    seenTicks = now;
    if (limit === undefined) return true;
    tokens = Math.min(limit.burst, tokens + passed / limit.everyMs);
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
