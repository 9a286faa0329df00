import { stepMs } from '../../domain/time.ts';
import { type Sources, sourceKeys, timelineOf } from './sources.ts';
import type { Span, Timeline } from './timeline.ts';
import type { Timetable } from './timetable.ts';
import type { WatchedJob } from './watched-job.ts';

/**
 * Spans of times that a clock skipped when it was set ahead. The value of a span says what happened to it:
 * - `leapt`: no clock has shown the times. Whether a job ran at such a time cannot be known, so the time is undecided.
 * - `undone`: the clock was set back and now shows the times. The times count as normal: without a run, they are missed. A
 *   scheduler that planned by the wrong clock starts nothing before the end of the span.
 * - `lived`: the clock showed the times while it was ahead, and shows them again. A run matches if it
 *   started when the clock first showed the time. Without a run, the time is undecided, because a scheduler does not start a
 *   run twice.
 * - `repeated`: the whole span that the clock of a member shows again. The times of the span count as normal.
 */
type Leap = Span;

/** A step of a clock: the time without the step, and the shown time. */
export type ClockStep = { readonly fromMs: number; readonly toMs: number };

/** Records a clock step. Without a name, any clock may have been set during an absence. */
export function noteStep(leaps: Timeline, { fromMs, toMs }: ClockStep, name?: string): Timeline {
  if (toMs > fromMs) return [...leaps, { value: `leapt ${name ?? ''}`, fromMs, throughMs: toMs }].slice(-maxLeaps);
  const isOwn = (value: string): boolean => value === `leapt ${name}` || (value === unnamed && name !== 'own');
  const isUndone = ({ value, throughMs }: Leap): boolean =>
    throughMs > toMs && (name === undefined ? isLeapt(value) : isOwn(value));
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
    // Without the name of a member, perhaps the exporter's clock was set.
    ...(name === undefined || name === 'own' ? [] : [{ value: `repeated ${name}`, fromMs: toMs, throughMs: fromMs }]),
  ].slice(-maxLeaps);
}

/** Reports whether a clock skipped a part of a window, so that runs have no certain times. */
export function isLeaptOver(sources: Sources, { fromMs, throughMs }: Omit<Span, 'value'>): boolean {
  const isOver = (leap: Leap): boolean => leap.fromMs <= throughMs && leap.throughMs >= fromMs;
  return leapsOf(sources).some((leap) => (isLeapt(leap.value) || leap.value === 'lived') && isOver(leap));
}

/** Returns the span of a clock step that skipped a time, if the clock was set back so that it shows the time again. */
export function findUndone(sources: Sources, atMs: number): Leap | undefined {
  return leapsOf(sources).findLast(
    ({ value, fromMs, throughMs }) => value === 'undone' && fromMs <= atMs && atMs < throughMs,
  );
}

/**
 * Returns the span that the clock of a member is showing for the second time; its scheduler planned the next runs during the
 * first time. Without a UUID, returns the span only if the server has one member.
 */
export function findRepeated(sources: Sources, nowMs: number, uuid = onlyMember(sources)): Leap | undefined {
  const span = leapsOf(sources).findLast(
    ({ value, fromMs, throughMs }) => value === `repeated ${uuid}` && fromMs <= nowMs && nowMs < throughMs,
  );
  const start = timelineOf(sources, sourceKeys.start(uuid)).at(-1) ?? timelineOf(sources, sourceKeys.start()).at(-1);
  // A scheduler plans all runs again when the server starts.
  return span !== undefined && Number(start?.value ?? -Infinity) <= span.fromMs ? span : undefined;
}

function onlyMember(sources: Sources): string | undefined {
  const [only = '', ...others] = [...sources.keys()].filter((key) => key.startsWith(sourceKeys.member('')));
  return others.length === 0 ? only.slice(sourceKeys.member('').length) : undefined;
}

/**
 * After the clock was set back, withdraws requests and decisions for times that are in the future again. Skipped times are
 * decided again; times that the clock had shown stay decided.
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
  // Decided times are not stored, so they must be requested again.
  const untilMs = isDecided ? nowMs : (gap?.afterMs ?? timetable.untilMs);
  return {
    source,
    askedAtMs: Math.min(gap?.askedAtMs ?? askedAtMs, nowMs),
    untilMs,
    timesMs: timetable.timesMs.filter((time) => time <= untilMs),
    confirmedMs: Math.min(timetable.confirmedMs, nowMs - stepMs),
  };
}

/** The value of a span that a clock skipped during an absence. */
const unnamed = 'leapt ';

function isLeapt(value: string): boolean {
  return value.startsWith('leapt');
}

function leapsOf(sources: Sources): Timeline {
  return timelineOf(sources, sourceKeys.leaps);
}

const maxLeaps = 100;
