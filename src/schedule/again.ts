/** After a first failure, and from then on twice as long each time. */
const firstPauseMs = 60_000;
/** All retries start within a minute of the return, including the time of the vital poll that noticed it. */
const spreadOverMs = 45_000;

/**
 * Computes the wait of a poll after this many failures in a row; undefined if its own schedule is sooner. A random part
 * separates polls that failed together.
 */
export function toPauseMs(failures: number, everyMs: number, random: number): number | undefined {
  const pauseMs = firstPauseMs * 2 ** Math.min(failures - 1, mostDoublings);
  return pauseMs < everyMs ? pauseMs * (0.9 + 0.2 * random) : undefined;
}

const mostDoublings = 20;

/** Spreads the retries of this many polls, from the moment at which the server is back. */
export function spreadEvenly(polls: number): number[] {
  return Array.from({ length: polls }, (_, index) => ((index + 1) / polls) * spreadOverMs);
}
