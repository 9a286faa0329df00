/** Shows a new series as 0 first and its value later. Times leave out those in which the process is stopped: nobody can scrape it. */
export type NewSeriesHold = {
  /** Returns the series that were shown as 0 for long enough: from now on, their values may be shown. */
  readonly due: (nowTicks: number) => readonly string[];
  /** Notes all series that are shown as 0 now; any other one begins again. */
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
