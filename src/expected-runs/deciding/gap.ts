import { toHour } from './hours.ts';
import { isProjectOffAt, type Sources } from './sources.ts';
import { type Gap, minSlackMs, type Timetable, timesAfter, toLikely, toMostPerHour } from './timetable.ts';
import { type Judged, maxListGapMs, type WatchedJob } from './watched-job.ts';

/**
 * Decides whether to request the times of a gap, which the server computes from the present schedule. `wait`: the job list must
 * first show that the schedule was not edited. `lost`: the times cannot be known, or there are too many.
 */
export function judgeGap(job: WatchedJob, gap: Gap, nowMs: number): 'ask' | 'wait' | 'lost' {
  if (gap.isLost === true || job.goneAtMs !== undefined) return 'lost';
  const maxPerHour = gap.maxPerHour ?? (job.timetable && toMostPerHour(job.timetable));
  const isRecent = nowMs - gap.throughMs <= maxListGapMs;
  // The first list after a gap is short. From a longer list, the number of start times in the gap can be estimated.
  if (maxPerHour === undefined && job.timetable?.source === 'forecast' && isRecent) return 'wait';
  if (!isUneditedSince(job, gap.askedAtMs)) return 'lost';
  const hours = Math.ceil((nowMs - gap.afterMs) / hourMs);
  if (maxPerHour === undefined || maxPerHour * hours > maxListed) return 'lost';
  if (job.listedAtMs > gap.throughMs) return 'ask';
  return isRecent ? 'wait' : 'lost';
}

/** Reports whether the last job list shows no edit since a response. */
export function isUneditedSince({ lastModifiedMs }: WatchedJob, askedAtMs: number): boolean {
  return lastModifiedMs !== undefined && lastModifiedMs <= askedAtMs - minSlackMs;
}

/** The past start times in a response; only the oldest if there are too many. */
type PastAnswer = { readonly timesMs: readonly number[]; readonly isCut: boolean };

export function fillGap(job: WatchedJob, { timesMs: told, isCut }: PastAnswer, sources: Sources): WatchedJob {
  const { timetable } = job;
  const { gap } = timetable ?? {};
  if (timetable === undefined || gap === undefined) return job;
  const own = told.filter((time) => time > gap.afterMs && time <= gap.throughMs + minSlackMs);
  const expected = own.filter((time) => wasExpected(job, time, sources));
  const timesMs = [...new Set([...timetable.timesMs, ...expected])].sort((one, other) => one - other);
  const lastMs = told.at(-1);
  if (!isCut || lastMs === undefined || lastMs >= gap.throughMs) {
    const { unsure: _unsure, ...sure } = withoutGap(timetable);
    return { ...job, timetable: { ...sure, timesMs } };
  }
  const likely = gap.likely.filter(({ firstMs }) => firstMs > lastMs);
  return { ...job, timetable: { ...timetable, timesMs, gap: { ...gap, afterMs: lastMs, likely } } };
}

/** Marks a gap as lost, because the server cannot list the start times of the gap. */
export function loseGap(job: WatchedJob): WatchedJob {
  const { timetable } = job;
  if (timetable?.gap === undefined) return job;
  return { ...job, timetable: { ...timetable, gap: { ...timetable.gap, isLost: true } } };
}

/** Counts the times of a gap as undecided. The number of times is estimated from the pattern before or after the gap. */
export function closeGap(job: WatchedJob, gap: Gap, sources: Sources): Judged {
  const { timetable } = job;
  if (timetable === undefined) return { job, verdicts: [] };
  const { maxPerHour, afterMs, throughMs } = gap;
  const all = maxPerHour === undefined ? toLikely(timetable, afterMs, throughMs) : gap.likely;
  // If the first responses had only one start time each, some start times of the gap are known.
  const known = maxPerHour === undefined ? timesAfter(timetable, afterMs).filter((time) => time <= throughMs) : [];
  const likely = all
    .map(({ firstMs, count }) => ({
      firstMs,
      count: count - known.filter((time) => toHour(time) === toHour(firstMs)).length,
    }))
    .filter(({ firstMs, count }) => count > 0 && wasExpected(job, firstMs, sources));
  return {
    job: { ...job, timetable: withoutGap(timetable) },
    verdicts: likely.map(({ firstMs, count }) => ({ is: 'undecided', expectedMs: firstMs, why: 'unasked', count })),
  };
}

function withoutGap({ gap: _gap, ...rest }: Timetable): Timetable {
  return rest;
}

/** Reports whether a time was expected. While a job or its project is off, only known times are expected. */
function wasExpected({ off, project }: WatchedJob, atMs: number, sources: Sources): boolean {
  const isOff = off.some(({ sinceMs, untilMs = Number.POSITIVE_INFINITY }) => sinceMs <= atMs && atMs < untilMs);
  return !isOff && !isProjectOffAt(sources, project, atMs);
}

/** The number of starts in an hour of a job that starts every second. */
const maxListed = 3600;
const hourMs = 3_600_000;
