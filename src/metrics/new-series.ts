/**
 * Publishes a new series as 0 first, and its value later. The time in which the process is suspended does not count, because no
 * scrape can read it then.
 */
export type NewSeriesHold = {
  /** Returns the series that were published as 0 for long enough: their values may now be published. */
  readonly due: (nowTicks: number) => readonly string[];
  /** Records all series that are published as 0 now; the time of any other series starts again. */
  readonly noteShown: (keys: Iterable<string>, nowTicks: number) => void;
};

/** Holds new series at 0, so that Prometheus sees their first increase. */
export function createNewSeriesHold(holdMs: number): NewSeriesHold {
  let shownSince = new Map<string, number>();
  return {
    due: (nowTicks) => [...shownSince].flatMap(([key, ticks]) => (nowTicks - ticks >= holdMs ? [key] : [])),
    noteShown: (keys, nowTicks) => {
      const before = shownSince;
      shownSince = new Map();
      for (const key of keys) shownSince.set(key, before.get(key) ?? nowTicks);
    },
  };
}
