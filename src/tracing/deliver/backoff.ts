const firstMs = 1000;
const longestMs = 60_000;

/** Computes the wait after a number of failed tries, with full jitter; never less than the OTLP endpoint asked for. */
export function backoffMs(tries: number, random: number, askedMs = 0): number {
  return Math.max(askedMs, random * Math.min(longestMs, firstMs * 2 ** Math.min(tries, 30)));
}
