const firstMs = 1000;
const longestMs = 60_000;

/** How long to wait after so many tries in vain, with full jitter; never less than the collector asked for. */
export function backoffMs(tries: number, random: number, askedMs = 0): number {
  return Math.max(askedMs, random * Math.min(longestMs, firstMs * 2 ** Math.min(tries, 30)));
}
