/** After a first failure, and from then on twice as long each time. */
const firstPauseMs = 60_000;
/** All that is asked again has been asked within a minute, however long the vital poll took that found the server back. */
const spreadOverMs = 45_000;

/**
 * How long a poll waits that has failed so many times in a row; undefined where its own times come sooner. Chance keeps those
 * apart that failed together.
 */
export function toPauseMs(failures: number, everyMs: number, random: number): number | undefined {
  const pauseMs = firstPauseMs * 2 ** Math.min(failures - 1, mostDoublings);
  return pauseMs < everyMs ? pauseMs * (0.9 + 0.2 * random) : undefined;
}

const mostDoublings = 20;

/** When each of so many polls is asked again, from the moment at which the server is back. */
export function spreadEvenly(polls: number): number[] {
  return Array.from({ length: polls }, (_, index) => ((index + 1) / polls) * spreadOverMs);
}
