/** The expected times of one job, as the server's answers had them. Times are the server's. */
export type Timetable = {
  /** What the server has: forecasts of many times, or only the next run, as older ones. */
  readonly source: 'forecast' | 'next-run';
  readonly askedAtMs: number;
  /** Every time up to here is known. */
  readonly untilMs: number;
  /** Ascending: those before the answer are kept until they are decided. */
  readonly timesMs: readonly number[];
  /** Up to here an answer that was asked later has confirmed the times. */
  readonly confirmedMs: number;
  readonly gap?: Gap;
  readonly unsure?: Unsure;
  /** The first time that an edit took away: what started around it did not start for the time before it. */
  readonly withdrawnMs?: number;
};

/** An answer about the times to come. */
export type Answer = Omit<Timetable, 'confirmedMs' | 'gap' | 'unsure' | 'withdrawnMs'> & {
  /** True if the list of jobs has shown an edit: what is known beyond the answer is of before. */
  readonly isAfterEdit?: boolean;
};

/** Times that may be those of another schedule: a run satisfies one of them, and none counts as missed. */
export type Unsure = { readonly afterMs: number; readonly throughMs: number };

/** A stretch whose times no answer tells: the next question came too late. */
export type Gap = {
  readonly afterMs: number;
  readonly throughMs: number;
  /** When the last answer before it was asked. */
  readonly askedAtMs: number;
  /** The most times in an hour before it; undefined where too little was listed. */
  readonly maxPerHour?: number;
  /** How many times it has if they continue as before, by their hours. */
  readonly likely: readonly LikelyTimes[];
  /** True once the server cannot tell them. */
  readonly isLost?: true;
};

export type LikelyTimes = { readonly firstMs: number; readonly count: number };

/** Returns the most times in an hour, of those to come when it was asked; undefined where too little was listed. */
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

/** Counts the times of a stretch beyond an answer, by their hours, if its pattern continues: of a long stretch the newest. */
export function toLikely(timetable: Timetable, afterMs: number, throughMs: number): readonly LikelyTimes[] {
  const likely: LikelyTimes[] = [];
  for (let fromMs = Math.max(afterMs, throughMs - mostLikelyMs); fromMs < throughMs; ) {
    const toMs = Math.min((Math.floor(fromMs / hourMs) + 1) * hourMs, throughMs);
    const times = timesWithin(timetable, fromMs, toMs);
    if (times[0] !== undefined) likely.push({ firstMs: times[0], count: times.length });
    fromMs = toMs;
  }
  return likely;
}

const hourMs = 3_600_000;
const minListedMs = 300_000;
const mostLikelyMs = 14 * 24 * hourMs;

/**
 * Returns the time of the next question: when half of what is known ahead is used, or all known times are over, at the latest after
 * six hours.
 */
export function toRefreshMs({ askedAtMs, untilMs, timesMs, source }: Timetable): number {
  if (source === 'next-run') return untilMs + 1;
  const lastMs = timesMs.at(-1) ?? askedAtMs;
  const overMs = lastMs > askedAtMs ? lastMs + 1 : Number.POSITIVE_INFINITY;
  return Math.min(askedAtMs + Math.min((untilMs - askedAtMs) / 2, maxAgeMs), overMs);
}

const maxAgeMs = 6 * hourMs;

/** The times of a window ahead; beyond the answer its pattern is repeated. */
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
  // Earlier repetitions are over before the window begins.
  const firstShiftMs = Math.max(1, Math.floor((fromMs - untilMs) / periodMs)) * periodMs;
  for (let shiftMs = firstShiftMs; askedAtMs + shiftMs < toMs; shiftMs += periodMs) {
    const end = placeAfter(timesMs, toMs - shiftMs);
    for (let place = Math.max(first, placeAfter(timesMs, afterMs - shiftMs)); place < end; place++) {
      times.push((timesMs[place] ?? 0) + shiftMs);
    }
  }
  return times;
}

/** The times that are to come, as of the last question or later. */
export function timesAfter({ timesMs }: Pick<Timetable, 'timesMs'>, atMs: number): readonly number[] {
  return timesMs.slice(placeAfter(timesMs, atMs));
}

/** Finds the place of the first of ascending times that is after another one. */
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
