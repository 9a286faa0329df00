/** One start that the timetable expects. */
export type ExpectedStart = { readonly atMs: number; readonly durationMs: number };

export type Contention = {
  /** The most runs at once. */
  readonly most: number;
  /** The first time at which there are more than there are threads; undefined if that does not happen. */
  readonly exceededMs: number | undefined;
};

/** Computes how many runs the timetable expects at once in a window, those under way included until they are over. */
export function findContention(
  starts: readonly ExpectedStart[],
  { running, fromMs, toMs, threads }: Window,
): Contention {
  const own = starts.filter(({ atMs }) => atMs > fromMs && atMs <= toMs);
  const begins = Float64Array.from(own, ({ atMs }) => atMs).sort();
  const ends = new Float64Array(running.length + own.length);
  for (const [place, endMs] of running.entries()) ends[place] = Math.max(endMs, fromMs + 1);
  for (const [place, { atMs, durationMs }] of own.entries())
    ends[running.length + place] = atMs + Math.max(durationMs, 1);
  ends.sort();
  let ended = 0;
  let now = running.length;
  let most = now;
  let exceededMs = threads !== undefined && now > threads ? fromMs : undefined;
  for (const atMs of begins) {
    // What ends makes room for what starts at the same moment.
    while ((ends[ended] ?? Infinity) <= atMs) ended += 1;
    now += 1;
    most = Math.max(most, now - ended);
    if (threads !== undefined && now - ended > threads) exceededMs ??= atMs;
  }
  return { most, exceededMs };
}

type Window = {
  /** When each of the runs under way is expected to end. */
  readonly running: readonly number[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly threads: number | undefined;
};
