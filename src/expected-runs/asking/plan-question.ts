import { type Timetable, timesAfter } from '../deciding/timetable.ts';

/** A request about a schedule: for the next start, or for all starts in a span from now on. */
export type Question = { readonly ask: 'next' } | { readonly ask: 'times'; readonly spanMs: number };

export type Situation = {
  readonly nowMs: number;
  /** False for older servers, which report only the next start. */
  readonly hasForecast: boolean;
  readonly maxSpanMs: number;
  /** True if the next start was read in the same turn. */
  readonly isNextSure: boolean;
  /** True if known start times must be requested again. */
  readonly isListDue: boolean;
  /** True if the job was not edited since the times were listed: the job list shows no edit, or the times were listed just now. */
  readonly isUnedited: boolean;
  /** True if the start times only have to be confirmed; then a slightly shorter span is enough. */
  readonly isConfirming: boolean;
};

/**
 * Plans the next request about a schedule; undefined if no request is needed. Spans start small and grow, because the server
 * has all times of a span in memory. Before a long span, the next start and the hour after it are requested, because the
 * schedule may have been edited. To confirm known start times, the times up to an hour after the next start are enough.
 */
export function planQuestion(timetable: Timetable | undefined, situation: Situation): Question | undefined {
  const { nowMs, hasForecast, maxSpanMs, isNextSure, isListDue, isUnedited, isConfirming } = situation;
  const next: Question | undefined = isNextSure ? undefined : { ask: 'next' };
  const coming = timetable === undefined ? [] : timesAfter(timetable, nowMs);
  const [firstMs] = coming;
  if (!hasForecast || timetable === undefined) return next;
  // The server reports a run as the next run until it has started.
  if (firstMs === undefined) return next ?? { ask: 'times', spanMs: stretches[0] };
  if (firstMs - nowMs > maxAheadMs) return next;
  const quietMs = firstMs - nowMs;
  const { untilMs } = timetable;
  const afterMs = chooseStretch(coming, { quietMs, listedMs: untilMs - firstMs, maxMs: maxSpanMs - quietMs });
  if (afterMs === undefined) return next;
  const spanMs = quietMs + afterMs;
  const askedMs = isUnedited && !isListDue ? spanMs : Math.min(spanMs, quietMs + hourMs);
  const isFresh = nowMs - timetable.askedAtMs < (isUnedited ? freshMs : justNowMs);
  if (!isNextSure && askedMs > (isFresh ? longDayMs : maxUnsureMs)) return next;
  const isListed = untilMs - firstMs >= (isConfirming ? afterMs * enoughShare : afterMs - 2 * edgeMs);
  if (isNextSure && !isListDue && (isListed || isEnough(timetable, nowMs))) return undefined;
  return { ask: 'times', spanMs: askedMs };
}

function isEnough(timetable: Timetable, nowMs: number): boolean {
  return timesAfter(timetable, nowMs).length >= 2 && timetable.untilMs - nowMs >= enoughMs;
}

/** Reports whether only the next start is known although more starts could be requested. */
export function isUnlisted(timetable: Timetable, nowMs: number, maxSpanMs: number): boolean {
  const [firstMs] = timesAfter(timetable, nowMs);
  if (timetable.source !== 'forecast' || firstMs === undefined) return false;
  return firstMs - nowMs <= Math.min(maxAheadMs, maxSpanMs - stretches[0]) && timetable.untilMs <= firstMs;
}

type Stretch = { readonly quietMs: number; readonly listedMs: number; readonly maxMs: number };

/**
 * Chooses how far to list from the next start on. A long span needs fewer requests, and has at least two starts of a
 * rare schedule. The response must not have more than `maxTimes` start times.
 */
function chooseStretch(coming: readonly number[], { quietMs, listedMs, maxMs }: Stretch): number | undefined {
  const isListed = listedMs >= minuteMs;
  const rate = isListed ? coming.length / listedMs : 0;
  const allowedMs = Math.min(maxMs, isListed ? listedMs * maxGrowth : hourMs);
  const [shortest, ...longer] = stretches;
  if (shortest > maxMs) return undefined;
  const possible = [shortest, ...longer.filter((ms) => ms <= allowedMs && ms * rate <= maxTimes)];
  const least = isListed ? (coming.length - 1) / listedMs : 0;
  return possible.find((ms) => quietMs + ms >= enoughMs && ms * least >= fewTimes) ?? possible.at(-1);
}

export const maxTimes = 500;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** How far ahead start times must be known: the 12 h of the page of runs at risk, and six hours more until the next request. */
const enoughMs = 18 * hourMs;
/** The spans of a day and of a week are a little longer, because a day with a change to winter time has 25 hours. */
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
  4 * longDayMs,
  170 * hourMs,
] as const;
/** A span may grow from an hour to a day in one step, because the hours of a day are similar. */
const maxGrowth = 27;
const fewTimes = 1.9;
/** For a schedule that starts every second, the span has 3,660 starts. */
const maxUnsureMs = hourMs + minuteMs;
/** How long a response stays valid if the list shows no edit. The first requests for many jobs may take this long. */
const freshMs = 30 * minuteMs;
const justNowMs = 10 * minuteMs;
const enoughShare = 0.9;
/** The server computes the span with its own clock and may cut times to seconds, so the last start may be missing. */
export const edgeMs = 30_000;
/** If the next start is later than a week from now, no further starts are requested. */
const maxAheadMs = 7 * 24 * hourMs;
