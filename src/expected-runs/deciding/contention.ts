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
  const changes: (readonly [atMs: number, by: number])[] = [];
  for (const endMs of running) changes.push([Math.max(endMs, fromMs + 1), -1]);
  for (const { atMs, durationMs } of starts) {
    if (atMs <= fromMs || atMs > toMs) continue;
    changes.push([atMs, 1], [atMs + Math.max(durationMs, 1), -1]);
  }
  // What ends makes room for what starts at the same moment.
  changes.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  let now = running.length;
  let most = now;
  let exceededMs = threads !== undefined && now > threads ? fromMs : undefined;
  for (const [atMs, by] of changes) {
    now += by;
    most = Math.max(most, now);
    if (threads !== undefined && now > threads) exceededMs ??= atMs;
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
