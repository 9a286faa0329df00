import { type Sources, sourceKeys, timelineOf } from './sources.ts';
import type { Span, Timeline } from './timeline.ts';
import type { Timetable } from './timetable.ts';
import type { WatchedJob } from './watched-job.ts';

/**
 * What became of the times over which a clock was set ahead.
 *
 * - `leapt`: no clock has shown them. A run of such a time cannot be told from one that did not happen: undecided.
 * - `undone`: the clock was set back before them, so it shows them after all, one after the other. They are times as all others,
 *   and a run that does not come is missed. A scheduler that computed its next times while the clock was ahead starts nothing
 *   until then.
 * - `lived`: the clock showed them while it was ahead, and shows them again. What ran the first time satisfies them; where
 *   nothing did, undecided: the scheduler does not start it twice.
 */
type Leap = Span;

/** By how far a clock differs from what it showed before: `fromMs` is what it would show, `toMs` what it shows. */
export type ClockStep = { readonly fromMs: number; readonly toMs: number };

/** Notes that a clock was set. Without a name, any clock may be the one that was set back. */
export function noteStep(leaps: Timeline, { fromMs, toMs }: ClockStep, name?: string): Timeline {
  if (toMs > fromMs) return [...leaps, { value: `leapt ${name ?? ''}`, fromMs, throughMs: toMs }].slice(-maxLeaps);
  const isUndone = ({ value, throughMs }: Leap): boolean =>
    throughMs > toMs && (name === undefined ? isLeapt(value) : value === `leapt ${name}`);
  const undone = leaps.filter(isUndone).map((leap) => ({ ...leap, fromMs: Math.max(leap.fromMs, toMs) }));
  const lived = undone.map(({ throughMs }) => {
    const nextMs = Math.min(fromMs, ...undone.map((other) => other.fromMs).filter((other) => other >= throughMs));
    return { value: 'lived', fromMs: throughMs, throughMs: nextMs };
  });
  return [
    ...leaps.flatMap((leap) => {
      if (!isUndone(leap)) return [leap];
      return leap.fromMs < toMs ? [{ ...leap, throughMs: toMs }] : [];
    }),
    ...undone.map((leap) => ({ ...leap, value: 'undone' })),
    ...lived,
  ].slice(-maxLeaps);
}

/** Reports whether no run can show that it belongs to a time of a window. */
export function isLeaptOver(sources: Sources, { fromMs, throughMs }: Omit<Span, 'value'>): boolean {
  const isOver = (leap: Leap): boolean => leap.fromMs <= throughMs && leap.throughMs >= fromMs;
  return leapsOf(sources).some((leap) => leap.value !== 'undone' && isOver(leap));
}

/** The stretch around a time before which the clock was set back after it had been ahead of it. */
export function findUndone(sources: Sources, atMs: number): Leap | undefined {
  return leapsOf(sources).findLast(
    ({ value, fromMs, throughMs }) => value === 'undone' && fromMs <= atMs && atMs < throughMs,
  );
}

/**
 * Takes back what was asked and decided about a job while the clock was ahead of times that are still to come. Those that
 * were leapt over are decided once more, now as what they are; those that the clock has shown stay decided.
 */
export function takeBack(job: WatchedJob, { nowMs, aheadMs = 0, sources }: Now): WatchedJob {
  const undone = findUndone(sources, nowMs);
  const { timetable, decidedMs } = job;
  if (undone === undefined) return job;
  const isDecided = decidedMs > nowMs + aheadMs + stepMs;
  const isAsked = timetable !== undefined && Math.max(timetable.askedAtMs, timetable.gap?.throughMs ?? 0) > nowMs;
  if (!isDecided && !isAsked) return job;
  return {
    ...job,
    sinceMs: Math.min(job.sinceMs, nowMs),
    decidedMs: isDecided ? nowMs + aheadMs : decidedMs,
    verdicts: job.verdicts.filter(({ expectedMs }) => expectedMs <= nowMs + aheadMs),
    ...(isDecided ? { decided: { afterMs: undone.throughMs, throughMs: decidedMs } } : {}),
    ...(timetable === undefined ? {} : { timetable: toKnownBefore(timetable, nowMs, isDecided) }),
  };
}

type Now = { readonly nowMs: number; readonly aheadMs?: number; readonly sources: Sources };

function toKnownBefore(timetable: Timetable, nowMs: number, isDecided: boolean): Timetable {
  const { source, askedAtMs, gap } = timetable;
  // What is decided is not kept, and has to be asked for again.
  const untilMs = isDecided ? nowMs : (gap?.afterMs ?? timetable.untilMs);
  return {
    source,
    askedAtMs: Math.min(gap?.askedAtMs ?? askedAtMs, nowMs),
    untilMs,
    timesMs: timetable.timesMs.filter((time) => time <= untilMs),
    confirmedMs: Math.min(timetable.confirmedMs, nowMs - stepMs),
  };
}

function isLeapt(value: string): boolean {
  return value.startsWith('leapt');
}

function leapsOf(sources: Sources): Timeline {
  return timelineOf(sources, sourceKeys.leaps);
}

/** Larger than the duration of an answer, and than rounding to whole seconds. */
export const stepMs = 30_000;
const maxLeaps = 100;
