/** Holds new series at 0, so that Prometheus sees their first increase. Suspended time does not count. */
export function createNewSeriesHold(holdMs: number) {
  let shownSince = new Map<string, number>();
  return {
    /** Returns the series that were 0 for long enough, so that their values may be published. */
    due: (nowTicks: number): readonly string[] =>
      [...shownSince].flatMap(([key, ticks]) => (nowTicks - ticks >= holdMs ? [key] : [])),
    /** Records all series that are published as 0 now. For other series, the time starts again. */
    noteShown: (keys: Iterable<string>, nowTicks: number): void => {
      const before = shownSince;
      shownSince = new Map();
      for (const key of keys) shownSince.set(key, before.get(key) ?? nowTicks);
    },
  };
}
