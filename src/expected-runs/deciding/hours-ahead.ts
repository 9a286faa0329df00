import type { JobNames } from '../../domain/job-path.ts';
import { noPause, type Pause } from '../../domain/pause.ts';
import { hourMs, toHour } from './hours.ts';

/** A start that is expected, and the job that it is of. */
export type JobStart = ExpectedStart & { readonly job: JobNames };

/** A run under way, and when it is expected to end. */
export type RunUnderWay = { readonly endMs: number; readonly job: JobNames };

/** One hour to come. */
export type HourAhead = {
  readonly startMs: number;
  readonly starts: number;
  /** The most runs at once within it. */
  readonly most: number;
  /** If that exceeds the threads: when it first does, and the jobs that run then. */
  readonly exceeded:
    | { readonly atMs: number; readonly jobs: readonly JobNames[]; readonly jobCount: number }
    | undefined;
};

/** What is ahead: hour by hour, and over all. */
export type PlannedAhead = {
  /** The 24 hours from the one under way on. */
  readonly hours: readonly HourAhead[];
  /** The next sixty minutes, and the next 24 hours to the minute. */
  readonly hour: Contention;
  readonly day: Contention;
};

type AheadInput = {
  /** Returns the starts that are expected in a window; the first moment does not belong to it, the last one does. */
  readonly startsWithin: (fromMs: number, toMs: number) => readonly JobStart[];
  readonly underWay: readonly RunUnderWay[];
  readonly fromMs: number;
  readonly threads: number | undefined;
  readonly pause?: Pause;
};

/**
 * Plans the next 24 hours: how much starts, how many runs there are at once, and what collides. The starts of one hour are there at
 * a time, and of the earlier ones those that last: there may be hundreds of thousands in a day.
 */
export async function planHoursAhead(input: AheadInput): Promise<PlannedAhead> {
  const { startsWithin, underWay, fromMs, threads, pause = noPause } = input;
  const dayMs = 24 * hourMs;
  // What is overdue runs still, and is expected to end at any moment.
  const now = underWay.map((run) => ({ ...run, endMs: Math.max(run.endMs, fromMs + 1) }));
  const hours: HourAhead[] = [];
  let lasting: readonly RunUnderWay[] = now;
  let day: Contention = { most: now.length, exceededMs: undefined };
  // The last piece is the part of the day that lies beyond 24 full hours of the clock.
  for (let startMs = toHour(fromMs); startMs <= fromMs + dayMs; startMs += hourMs) {
    const afterMs = startMs > fromMs ? startMs - 1 : fromMs;
    const throughMs = Math.min(startMs + hourMs - 1, fromMs + dayMs);
    const own = startsWithin(afterMs, throughMs);
    const before = lasting.filter(({ endMs }) => endMs > Math.max(startMs, fromMs));
    const running = before.map(({ endMs }) => endMs);
    const found = findContention(own, { running, fromMs: afterMs, toMs: throughMs, threads });
    const contention = within(found, Math.max(startMs, fromMs));
    day = { most: Math.max(day.most, contention.most), exceededMs: day.exceededMs ?? contention.exceededMs };
    if (hours.length < 24)
      hours.push({
        startMs,
        starts: own.length,
        most: contention.most,
        exceeded: toExceeded(contention, before, own),
      });
    lasting = [...before, ...toLasting(own, startMs + hourMs)];
    await pause();
  }
  const running = now.map(({ endMs }) => endMs);
  const toMs = fromMs + hourMs;
  const hour = findContention(startsWithin(fromMs, toMs), { running, fromMs, toMs, threads });
  return { hours, hour, day };
}

/** What runs at the beginning exceeds the threads from then on, and not from the moment before. */
function within({ most, exceededMs }: Contention, beginMs: number): Contention {
  return { most, exceededMs: exceededMs === undefined ? undefined : Math.max(exceededMs, beginMs) };
}

function toLasting(starts: readonly JobStart[], throughMs: number): readonly RunUnderWay[] {
  return starts.flatMap(({ atMs, durationMs, job }) => {
    const endMs = atMs + Math.max(durationMs, 1);
    return endMs > throughMs ? [{ endMs, job }] : [];
  });
}

function toExceeded(
  { exceededMs }: Contention,
  before: readonly RunUnderWay[],
  own: readonly JobStart[],
): HourAhead['exceeded'] {
  if (exceededMs === undefined) return undefined;
  const running = [
    ...before.filter(({ endMs }) => endMs > exceededMs),
    ...own.filter(({ atMs, durationMs }) => atMs <= exceededMs && atMs + Math.max(durationMs, 1) > exceededMs),
  ];
  const jobs = new Map(running.map(({ job }) => [JSON.stringify([job.project, job.group, job.name]), job]));
  return { atMs: exceededMs, jobs: [...jobs.values()].slice(0, maxNamed), jobCount: jobs.size };
}

/** The most jobs of an hour that a page names. */
const maxNamed = 20;

/** One start that the timetable expects. */
type ExpectedStart = { readonly atMs: number; readonly durationMs: number };

export type Contention = {
  /** The most runs at once. */
  readonly most: number;
  /** The first time at which there are more than there are threads; undefined if that does not happen. */
  readonly exceededMs: number | undefined;
};

/** Computes how many runs the timetable expects at once in a window, those under way included until they are over. */
function findContention(starts: readonly ExpectedStart[], { running, fromMs, toMs, threads }: Window): Contention {
  const own = starts.filter(({ atMs }) => atMs > fromMs && atMs <= toMs);
  const begins = Float64Array.from(own, ({ atMs }) => atMs).sort();
  const ends = new Float64Array(running.length + own.length);
  for (const [place, endMs] of running.entries()) ends[place] = Math.max(endMs, fromMs + 1);
  for (const [place, { atMs, durationMs }] of own.entries())
    ends[running.length + place] = atMs + Math.max(durationMs, 1);
  ends.sort();
  let ended = 0;
  let now = running.length;
  let most = now;
  let exceededMs = threads !== undefined && now > threads ? fromMs : undefined;
  for (const atMs of begins) {
    // What ends makes room for what starts at the same moment.
    while ((ends[ended] ?? Infinity) <= atMs) ended += 1;
    now += 1;
    most = Math.max(most, now - ended);
    if (threads !== undefined && now - ended > threads) exceededMs ??= atMs;
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
