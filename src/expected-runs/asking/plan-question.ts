import { type Timetable, timesAfter } from '../deciding/timetable.ts';

/** What is asked about a schedule: when it starts the job next, which is cheap, or all its times in a span from now on. */
export type Question = { readonly ask: 'next' } | { readonly ask: 'times'; readonly spanMs: number };

export type Situation = {
  readonly nowMs: number;
  /** False for older servers, which tell only the next time. */
  readonly hasForecast: boolean;
  /** No longer span is asked for. */
  readonly maxSpanMs: number;
  /** True once an answer of this turn has told the next time. */
  readonly isNextSure: boolean;
  /** True if times are wanted although enough are known: to confirm them, or because they may be others now. */
  readonly isListDue: boolean;
  /** True if nobody has edited the schedule since its times were listed: the list of jobs shows it, or they were listed just now. */
  readonly isUnedited: boolean;
  /** True if nothing is wanted but to confirm times: then almost all of a stretch is enough. */
  readonly isConfirming: boolean;
};

/**
 * Plans the next question about a schedule; undefined where nothing more is to be asked. A server lists all times of a span in
 * memory, so a span begins with what is known to be empty, up to the next time, and what follows it grows with what was listed
 * before. Anyone may have edited the schedule meanwhile: before a long span the next time is asked for, and an hour
 * from there. To confirm times, that hour suffices.
 */
export function planQuestion(timetable: Timetable | undefined, situation: Situation): Question | undefined {
  const { nowMs, hasForecast, maxSpanMs, isNextSure, isListDue, isUnedited, isConfirming } = situation;
  const next: Question | undefined = isNextSure ? undefined : { ask: 'next' };
  const coming = timetable === undefined ? [] : timesAfter(timetable, nowMs);
  const [firstMs] = coming;
  if (!hasForecast || timetable === undefined || firstMs === undefined || firstMs - nowMs > maxAheadMs) return next;
  const quietMs = firstMs - nowMs;
  const { untilMs } = timetable;
  const afterMs = chooseStretch(coming, { quietMs, listedMs: untilMs - firstMs, maxMs: maxSpanMs - quietMs });
  if (afterMs === undefined) return next;
  const spanMs = quietMs + afterMs;
  const isFresh = nowMs - timetable.askedAtMs < (isUnedited ? freshMs : justNowMs);
  if (!isNextSure && spanMs > (isFresh ? longDayMs : maxUnsureMs)) return next;
  const isListed = untilMs - firstMs >= (isConfirming ? afterMs * enoughShare : afterMs - 2 * edgeMs);
  if (isNextSure && !isListDue && (isListed || isEnough(timetable, nowMs))) return undefined;
  return { ask: 'times', spanMs: isUnedited && !isListDue ? spanMs : Math.min(spanMs, quietMs + hourMs) };
}

/** Reports whether the times that are known need no others for a while. */
export function isEnough(timetable: Timetable, nowMs: number): boolean {
  return timesAfter(timetable, nowMs).length >= 2 && timetable.untilMs - nowMs >= halfDayMs;
}

/** Reports whether only the next time is known, although more of them may be asked for by now. */
export function isUnlisted(timetable: Timetable, nowMs: number, maxSpanMs: number): boolean {
  const [firstMs] = timesAfter(timetable, nowMs);
  if (timetable.source !== 'forecast' || firstMs === undefined) return false;
  return firstMs - nowMs <= Math.min(maxAheadMs, maxSpanMs - stretches[0]) && timetable.untilMs <= firstMs;
}

type Stretch = { readonly quietMs: number; readonly listedMs: number; readonly maxMs: number };

/**
 * Chooses how far to list from the next time on: far enough to ask rarely, with two times where they are rare, and no further than
 * the most times reach if they go on as they were listed.
 */
function chooseStretch(coming: readonly number[], { quietMs, listedMs, maxMs }: Stretch): number | undefined {
  const isListed = listedMs >= minuteMs;
  const rate = isListed ? coming.length / listedMs : 0;
  const allowedMs = Math.min(maxMs, isListed ? listedMs * maxGrowth : hourMs);
  const [shortest, ...longer] = stretches;
  if (shortest > maxMs) return undefined;
  const possible = [shortest, ...longer.filter((ms) => ms <= allowedMs && ms * rate <= maxTimes)];
  const least = isListed ? (coming.length - 1) / listedMs : 0;
  return possible.find((ms) => quietMs + ms >= halfDayMs && ms * least >= fewTimes) ?? possible.at(-1);
}

/** The most times that are asked for at once. */
export const maxTimes = 500;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const halfDayMs = 12 * hourMs;
/** A little more than a day and than a week: the same time of the next one belongs to them, also where clocks change. */
const longDayMs = 26 * hourMs;
const stretches = [
  5 * minuteMs,
  10 * minuteMs,
  20 * minuteMs,
  40 * minuteMs,
  hourMs,
  2 * hourMs,
  4 * hourMs,
  8 * hourMs,
  13 * hourMs,
  longDayMs,
  2 * longDayMs,
  4 * longDayMs,
  170 * hourMs,
] as const;
/** From an hour to a day: within a day every hour in which a schedule starts anything is like the others. */
const maxGrowth = 27;
const fewTimes = 1.9;
/** A schedule that somebody has made to start every second lists 3,600 times in it. */
const maxUnsureMs = hourMs + minuteMs;
/** What was told as lately as this is taken to hold still: a first contact takes as long. It is less where the list shows no edits. */
const freshMs = 30 * minuteMs;
const justNowMs = 10 * minuteMs;
const enoughShare = 0.9;
/** The server counts the span by its own clock, and may cut times to whole seconds: what is due just before its end may be missing. */
export const edgeMs = 30_000;
/** Until a time is as near as this it is all that has to be known. */
const maxAheadMs = 7 * 24 * hourMs;
