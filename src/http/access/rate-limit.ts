export type RateLimit = { readonly everyMs: number; readonly burst: number };

type Bucket = { readonly tokens: number; readonly seenTicks: number };

/**
 * Allows each client a burst of requests, and one more each time the interval has passed. Clients that are not known share:
 * they take nothing from a known one.
 */
export function createRateLimit(ticks: () => number): (limit: RateLimit, client: string | undefined) => boolean {
  const buckets = new Map<string | undefined, Bucket>();
  return (limit, client) => {
    const now = ticks();
    const { tokens, seenTicks } = buckets.get(client) ?? { tokens: limit.burst, seenTicks: now };
    const filled = Math.min(limit.burst, tokens + (now - seenTicks) / limit.everyMs);
    const isAllowed = filled >= 1;
    buckets.delete(client);
    buckets.set(client, { tokens: isAllowed ? filled - 1 : filled, seenTicks: now });
    const [oldest] = buckets.keys();
    if (buckets.size > mostBuckets) buckets.delete(oldest);
    return isAllowed;
  };
}

const mostBuckets = 1000;
