export type Timetable = {
  /** What the server reports: `forecast` for many times, or only the next run (older servers). */
  readonly source: 'forecast' | 'next-run';
  readonly askedAtMs: number;
  /** All times up to this one are known. */
  readonly untilMs: number;
  /** Ascending. Past times are kept until they are decided. */
  readonly timesMs: readonly number[];
  /** A later answer has confirmed the times up to this one. */
  readonly confirmedMs: number;
  readonly gap?: Gap;
  readonly unsure?: Unsure;
  /** The first time that an edit removed: a start near it was not for an earlier time. */
  readonly withdrawnMs?: number;
};

/** An answer about future times. */
export type Answer = Omit<Timetable, 'confirmedMs' | 'gap' | 'unsure' | 'withdrawnMs'> & {
  /** True if the job list has shown an edit, so that times beyond the answer are outdated. */
  readonly isAfterEdit?: boolean;
};

/** Times that may belong to another schedule: a run may satisfy one of them, but none counts as missed. */
export type Unsure = { readonly afterMs: number; readonly throughMs: number };

/** A span without known times, because a request came too late. */
export type Gap = {
  readonly afterMs: number;
  readonly throughMs: number;
  /** When the last answer before the gap was requested. */
  readonly askedAtMs: number;
  /** The maximum number of times in an hour before the gap; undefined if too few times were listed. */
  readonly maxPerHour?: number;
  /** The number of times in each hour, if the pattern continues. */
  readonly likely: readonly LikelyTimes[];
  /** True if the server can no longer list the times. */
  readonly isLost?: true;
};

export type LikelyTimes = { readonly firstMs: number; readonly count: number };

/** Returns the times in a window before an answer, computed from the pattern of its times. */
function timesBefore(timetable: Timetable, fromMs: number, toMs: number): readonly number[] {
  const periodMs = timetable.untilMs - timetable.askedAtMs;
  if (periodMs <= 0) return [];
  const shiftMs = Math.ceil((timetable.askedAtMs - fromMs) / periodMs) * periodMs;
  return timesWithin(timetable, fromMs + shiftMs, toMs + shiftMs).map((time) => time - shiftMs);
}

/** Returns the maximum number of future times in an hour; undefined if too few times were listed. */
export function toMostPerHour(timetable: Timetable): number | undefined {
  const times = timesAfter(timetable, timetable.askedAtMs);
  const listedMs = timetable.untilMs - (times[0] ?? Number.POSITIVE_INFINITY);
  if (listedMs < minListedMs) return undefined;
  let most = 0;
  let first = 0;
  for (const [index, time] of times.entries()) {
    while ((times[first] ?? time) <= time - hourMs) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return listedMs >= hourMs ? most : Math.ceil((most * hourMs) / listedMs);
}

/** By hour, counts the times before or after an answer if its pattern continues; of a long span, only the newest. */
export function toLikely(timetable: Timetable, afterMs: number, throughMs: number): readonly LikelyTimes[] {
  const likely: LikelyTimes[] = [];
  for (let fromMs = Math.max(afterMs, throughMs - mostLikelyMs); fromMs < throughMs; ) {
    const toMs = Math.min((Math.floor(fromMs / hourMs) + 1) * hourMs, throughMs);
    const times =
      toMs <= timetable.askedAtMs ? timesBefore(timetable, fromMs, toMs) : timesWithin(timetable, fromMs, toMs);
    if (times[0] !== undefined) likely.push({ firstMs: times[0], count: times.length });
    fromMs = toMs;
  }
  return likely;
}

const hourMs = 3_600_000;
const minListedMs = 300_000;
const mostLikelyMs = 14 * 24 * hourMs;

/**
 * Returns the time of the next request: when half of the known future has passed, or all known times are over; at the latest
 * after six hours.
 */
export function toRefreshMs({ askedAtMs, untilMs, timesMs, source }: Timetable): number {
  if (source === 'next-run') return untilMs + 1;
  const lastMs = timesMs.at(-1) ?? askedAtMs;
  const overMs = lastMs > askedAtMs ? lastMs + 1 : Number.POSITIVE_INFINITY;
  return Math.min(askedAtMs + Math.min((untilMs - askedAtMs) / 2, maxAgeMs), overMs);
}

const maxAgeMs = 6 * hourMs;

/** Returns the times in a future window; the pattern of the answer is repeated after its end. */
export function timesWithin(
  { timesMs, askedAtMs, untilMs }: Timetable,
  fromMs: number,
  toMs: number,
): readonly number[] {
  const times = timesMs.slice(placeAfter(timesMs, fromMs), placeAfter(timesMs, toMs));
  const periodMs = untilMs - askedAtMs;
  const first = placeAfter(timesMs, askedAtMs);
  if (toMs <= untilMs || periodMs <= 0 || timesMs.length - first < 2) return times;
  const afterMs = Math.max(fromMs, untilMs);
  // Earlier repetitions end before the window begins.
  const firstShiftMs = Math.max(1, Math.floor((fromMs - untilMs) / periodMs)) * periodMs;
  for (let shiftMs = firstShiftMs; askedAtMs + shiftMs < toMs; shiftMs += periodMs) {
    const end = placeAfter(timesMs, toMs - shiftMs);
    for (let place = Math.max(first, placeAfter(timesMs, afterMs - shiftMs)); place < end; place++) {
      times.push((timesMs[place] ?? 0) + shiftMs);
    }
  }
  return times;
}

/** Reports whether the times up to a given time are known, either listed or by a repeating pattern. */
export function isTimedUntil(timetable: Timetable | undefined, toMs: number): boolean {
  if (timetable === undefined) return false;
  return toMs <= timetable.untilMs || timesAfter(timetable, timetable.askedAtMs).length >= 2;
}

/** Returns the future times, as of the last request or later. */
export function timesAfter({ timesMs }: Pick<Timetable, 'timesMs'>, atMs: number): readonly number[] {
  return timesMs.slice(placeAfter(timesMs, atMs));
}

/** Returns the index of the first time after another one. */
function placeAfter(timesMs: readonly number[], atMs: number): number {
  let low = 0;
  let high = timesMs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((timesMs[middle] ?? 0) > atMs) high = middle;
    else low = middle + 1;
  }
  return low;
}
