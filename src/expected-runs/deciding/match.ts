import type { Timetable } from './timetable.ts';
import type { SeenRun } from './watched-job.ts';

/** The starts that satisfy an expected time; both ends belong to it. */
export type StartWindow = { readonly fromMs: number; readonly throughMs: number };

/** Clocks of members run apart by a little. */
const earliestMs = 5000;

/** The window of one of the times, which never reaches more than half way to its neighbours. */
export function toStartWindow(
  { timesMs, untilMs, gap, withdrawnMs = -Infinity }: Times,
  index: number,
  marginMs: number,
): StartWindow {
  const time = timesMs[index] ?? 0;
  const before = timesMs[index - 1];
  const following = timesMs[index + 1];
  const told = withdrawnMs > time ? Math.min(withdrawnMs, following ?? withdrawnMs) : following;
  const gapAfterMs = gap?.afterMs;
  const isBeforeGap = gapAfterMs !== undefined && time <= gapAfterMs && (told === undefined || told > gapAfterMs);
  const knownMs = isBeforeGap ? gapAfterMs : untilMs;
  // Beyond the end of what is known the next time is taken to be as far away as the previous one.
  const guessed = before === undefined || knownMs > time + 2 * marginMs ? undefined : 2 * time - before;
  const next = isBeforeGap ? Math.min(told ?? Infinity, guessed ?? Infinity) : (told ?? guessed);
  const earlyMs = before === undefined ? earliestMs : Math.min(earliestMs, (time - before) / 2);
  const lateMs = next === undefined ? marginMs : Math.min(marginMs, Math.ceil((next - time) / 2) - 1);
  return { fromMs: time - earlyMs, throughMs: time + lateMs };
}

type Times = Pick<Timetable, 'timesMs' | 'untilMs' | 'gap' | 'withdrawnMs'>;

/** The nearest run of a kind whose start lies in the window. */
export function findNearest(
  runs: readonly SeenRun[],
  kind: SeenRun['kind'],
  expectedMs: number,
  { fromMs, throughMs }: StartWindow,
): SeenRun | undefined {
  const fitting = runs.filter((run) => run.kind === kind && run.startedAtMs >= fromMs && run.startedAtMs <= throughMs);
  const distance = ({ startedAtMs }: SeenRun): number => Math.abs(startedAtMs - expectedMs);
  return fitting.toSorted((one, other) => distance(one) - distance(other) || one.id - other.id)[0];
}
