export type Timetable = {
  /** The kind of response: `forecast` with many start times, or only the next run (older servers). */
  readonly source: 'forecast' | 'next-run';
  readonly askedAtMs: number;
  /** The end of the span in which all start times are known. */
  readonly untilMs: number;
  /** The start times, in ascending order. Past start times are removed after they have been decided. */
  readonly timesMs: readonly number[];
  /** A later response has confirmed all start times up to this time. */
  readonly confirmedMs: number;
  readonly gap?: Gap;
  readonly unsure?: Unsure;
  /** The first start time that an edit removed. A run near the removed time does not match an earlier time. */
  readonly withdrawnMs?: number;
};

/** A response about future start times. */
export type Answer = Omit<Timetable, 'confirmedMs' | 'gap' | 'unsure' | 'withdrawnMs'> & {
  /** True if the job list has shown an edit after the response. */
  readonly isAfterEdit?: boolean;
};

/** A span of times that may belong to another schedule. A run may match one of these times, but none counts as missed. */
export type Unsure = { readonly afterMs: number; readonly throughMs: number };

/** A span without known start times, because a request came too late. */
export type Gap = {
  readonly afterMs: number;
  readonly throughMs: number;
  /** The time of the request for the last response before the gap. */
  readonly askedAtMs: number;
  /** The maximum number of starts in an hour before the gap; undefined if too few starts are known. */
  readonly maxPerHour?: number;
  /** The number of starts in each hour, if the pattern of starts continues. */
  readonly likely: readonly LikelyTimes[];
  /** True if the server can no longer list the start times of the gap. */
  readonly isLost?: true;
};

type LikelyTimes = { readonly firstMs: number; readonly count: number };

/** Returns the start times in a window outside the span of a response, assuming that the start times in the span repeat. */
function timesBeside(timetable: Timetable, fromMs: number, toMs: number): readonly number[] {
  const { askedAtMs, untilMs } = timetable;
  const periodMs = toPeriodMs(timetable) ?? untilMs - askedAtMs;
  const [first] = timesAfter(timetable, askedAtMs);
  if (first === undefined || first === untilMs) return [];
  const shiftMs = Math.max(0, Math.ceil((askedAtMs - fromMs) / periodMs)) * periodMs;
  const span = { fromMs: fromMs + shiftMs, toMs: toMs + shiftMs };
  return repeatedWithin(timetable, periodMs, span).map((time) => time - shiftMs);
}

/** Returns the maximum number of future starts in an hour; undefined if too few starts are known. */
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

/**
 * Counts, hour by hour, the likely start times outside the span of a response, assuming that its pattern continues. In a long
 * span, only the newest hours are counted.
 */
export function toLikely(timetable: Timetable, afterMs: number, throughMs: number): readonly LikelyTimes[] {
  const likely: LikelyTimes[] = [];
  for (let fromMs = Math.max(afterMs, throughMs - mostLikelyMs); fromMs < throughMs; ) {
    // A start at 10:00 counts in the hour from 10:00 to 11:00.
    const toMs = Math.min((Math.floor((fromMs + 1) / hourMs) + 1) * hourMs - 1, throughMs);
    const times = timesBeside(timetable, fromMs, toMs);
    if (times[0] !== undefined) likely.push({ firstMs: times[0], count: times.length });
    fromMs = toMs;
  }
  return likely;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The minimum tolerance: the duration of a request plus rounding to seconds. */
export const minSlackMs = 30_000;
const minListedMs = 300_000;
const mostLikelyMs = 14 * 24 * hourMs;

/**
 * Returns the time of the next request: after half of the known future, after six hours, or after the last known time, whichever
 * is first.
 */
export function toRefreshMs({ askedAtMs, untilMs, timesMs, source }: Timetable): number {
  if (source === 'next-run') return untilMs + 1;
  const lastMs = timesMs.at(-1) ?? askedAtMs;
  const overMs = lastMs > askedAtMs ? lastMs + 1 : Number.POSITIVE_INFINITY;
  return Math.min(askedAtMs + Math.min((untilMs - askedAtMs) / 2, maxAgeMs), overMs);
}

const maxAgeMs = 6 * hourMs;

/** Returns the start times in a future window. After the end of the response, start times repeat if their period is known. */
export function timesWithin(timetable: Timetable, fromMs: number, toMs: number): readonly number[] {
  const periodMs = toMs <= timetable.untilMs ? undefined : toPeriodMs(timetable);
  return repeatedWithin(timetable, periodMs, { fromMs, toMs: Math.min(toMs, toKnownMs(timetable)) });
}

type Span = { readonly fromMs: number; readonly toMs: number };

function repeatedWithin({ timesMs, untilMs }: Timetable, periodMs: number | undefined, { fromMs, toMs }: Span) {
  const times = timesMs.slice(placeAfter(timesMs, fromMs), placeAfter(timesMs, toMs));
  if (periodMs === undefined) return times;
  const afterMs = Math.max(fromMs, untilMs);
  for (let shiftMs = Math.ceil((afterMs - untilMs) / periodMs) * periodMs; untilMs - periodMs + shiftMs < toMs; ) {
    const end = placeAfter(timesMs, Math.min(untilMs, toMs - shiftMs));
    for (let place = placeAfter(timesMs, Math.max(untilMs - periodMs, afterMs - shiftMs)); place < end; place++) {
      times.push((timesMs[place] ?? 0) + shiftMs);
    }
    shiftMs += periodMs;
  }
  return times;
}

/** Returns the shortest period after which all start times of a response repeat; undefined if there is none. */
function toPeriodMs(timetable: Timetable): number | undefined {
  const known = periods.get(timetable);
  if (known !== undefined) return known.ms;
  const { timesMs, askedAtMs, untilMs } = timetable;
  // The response may lack a start time that passed during the request.
  const fromMs = askedAtMs + minSlackMs;
  const place = placeAfter(timesMs, fromMs);
  const ownMs = (timesMs[place + 1] ?? Number.POSITIVE_INFINITY) - (timesMs[place] ?? 0);
  const possible = Number.isFinite(ownMs) ? [ownMs, hourMs, dayMs, 7 * dayMs] : [];
  const ms = possible.find((periodMs) => {
    const later = placeAfter(timesMs, fromMs + periodMs);
    const count = timesMs.length - later;
    if (fromMs + periodMs > untilMs || placeAfter(timesMs, untilMs - periodMs) - place !== count) return false;
    for (let index = 0; index < count; index++)
      if (timesMs[later + index] !== (timesMs[place + index] ?? 0) + periodMs) return false;
    return true;
  });
  periods.set(timetable, { ms });
  return ms;
}

/** The period of each timetable, cached because each page needs the periods of many timetables. */
const periods = new WeakMap<Timetable, { readonly ms: number | undefined }>();

/** Reports whether the start times up to a given time are listed, or repeat. */
export function isTimedUntil(timetable: Timetable | undefined, toMs: number): boolean {
  if (timetable === undefined || toMs > toKnownMs(timetable)) return false;
  return toMs <= timetable.untilMs || toPeriodMs(timetable) !== undefined;
}

/**
 * Returns the end of the known times. A list counts only for three times its span, because a short list does not show whether
 * the next day has hours without starts.
 */
function toKnownMs({ askedAtMs, untilMs }: Timetable): number {
  return untilMs + (untilMs - askedAtMs) * maxRepeats;
}

const maxRepeats = 2;

/** Returns the start times after `atMs`, which must not be before the last request. */
export function timesAfter({ timesMs }: Pick<Timetable, 'timesMs'>, atMs: number): readonly number[] {
  return timesMs.slice(placeAfter(timesMs, atMs));
}

/** Returns the index of the first start time after `atMs`. */
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
