import type { JobNames } from '../../domain/execution.ts';
import { noPause, type Pause } from '../../domain/pause.ts';
import { hourMs, toHour } from './hours.ts';

export type JobStart = ExpectedStart & {
  readonly job: JobNames;
  /** The id of a job with a limit of concurrent runs. A start beyond the limit is skipped and needs no thread. */
  readonly limit?: { readonly id: string; readonly most: number };
};

export type RunUnderWay = { readonly endMs: number; readonly job: JobNames; readonly jobId?: string | undefined };

export type HourAhead = {
  readonly startMs: number;
  readonly starts: number;
  readonly most: number;
  /** The first time with more runs than threads, and its jobs. */
  readonly exceeded:
    | { readonly atMs: number; readonly jobs: readonly JobNames[]; readonly jobCount: number }
    | undefined;
};

export type PlannedAhead = {
  /** 24 hours, starting with the current hour. */
  readonly hours: readonly HourAhead[];
  /** The next 60 minutes and the next 24 hours, starting with the current minute. */
  readonly hour: Contention;
  readonly day: Contention;
  /** The spans within 24 hours in which runs start without a free thread. */
  readonly crowds: readonly Crowd[];
};

/** A span from the first to the last start without a free thread; in a cluster, only on the member `ownerUuid`. */
export type Crowd = { readonly fromMs: number; readonly toMs: number; readonly ownerUuid?: string };

/** Merges the plan of a cluster with the plans of its members, because each member has its own threads. */
export function joinPlans(whole: PlannedAhead, members: ReadonlyMap<string, PlannedAhead>): PlannedAhead {
  const plans = [...members.values()];
  const first = (of: (plan: PlannedAhead) => number | undefined): number | undefined =>
    plans.flatMap((plan) => of(plan) ?? []).sort((one, other) => one - other)[0];
  const exceededAt = (index: number): HourAhead['exceeded'] =>
    plans.flatMap(({ hours }) => hours[index]?.exceeded ?? []).sort((one, other) => one.atMs - other.atMs)[0];
  return {
    hours: whole.hours.map((hour, index) => ({ ...hour, exceeded: exceededAt(index) })),
    hour: { ...whole.hour, exceededMs: first(({ hour }) => hour.exceededMs) },
    day: { ...whole.day, exceededMs: first(({ day }) => day.exceededMs) },
    crowds: [...members].flatMap(([ownerUuid, { crowds }]) => crowds.map((crowd) => ({ ...crowd, ownerUuid }))),
  };
}

type AheadInput = {
  /** Returns the expected starts after `fromMs`, up to and including `toMs`. The starts of each job are in order. */
  readonly startsWithin: (fromMs: number, toMs: number) => readonly JobStart[];
  readonly underWay: readonly RunUnderWay[];
  readonly fromMs: number;
  readonly threads: number | undefined;
  readonly pause?: Pause;
};

/**
 * Plans the next 24 hours: starts, concurrent runs and collisions. Only the starts of one hour and the runs in progress are in
 * memory, because a day may have hundreds of thousands of starts.
 */
export async function planHoursAhead(input: AheadInput): Promise<PlannedAhead> {
  const { startsWithin, underWay, fromMs, threads, pause = noPause } = input;
  const dayMs = 24 * hourMs;
  // An overdue run is expected to end at any moment.
  const now = underWay.map((run) => ({ ...run, endMs: Math.max(run.endMs, fromMs + 1) }));
  const hours: HourAhead[] = [];
  let lasting: readonly RunUnderWay[] = now;
  const leaveOut = createSkips(underWay);
  let day: Contention = { most: now.length, exceededMs: undefined };
  const crowds: Crowd[] = [];
  // The last piece is the incomplete hour after 24 full hours.
  for (let startMs = toHour(fromMs); startMs <= fromMs + dayMs; startMs += hourMs) {
    const afterMs = startMs > fromMs ? startMs - 1 : fromMs;
    const throughMs = Math.min(startMs + hourMs - 1, fromMs + dayMs);
    const own = leaveOut(startsWithin(afterMs, throughMs));
    const before = lasting.filter(({ endMs }) => endMs > Math.max(startMs, fromMs));
    const running = before.map(({ endMs }) => endMs);
    const found = findContention(own, { running, fromMs: afterMs, toMs: throughMs, threads });
    crowds.push(...found.crowds);
    const contention = within(found, Math.max(startMs, fromMs));
    day = { most: Math.max(day.most, contention.most), exceededMs: day.exceededMs ?? contention.exceededMs };
    if (hours.length < 24)
      hours.push({ startMs, starts: own.length, most: contention.most, exceeded: toExceeded(contention, before, own) });
    lasting = [...before, ...toRuns(own)];
    await pause();
  }
  const running = now.map(({ endMs }) => endMs);
  const toMs = fromMs + hourMs;
  const own = createSkips(underWay)(startsWithin(fromMs, toMs));
  const { most, exceededMs } = findContention(own, { running, fromMs, toMs, threads });
  const hour = { most, exceededMs };
  return { hours, hour, day, crowds };
}

/** Returns a function that removes starts beyond the limit of their job, hour by hour. */
function createSkips(underWay: readonly RunUnderWay[]) {
  const ends = new Map<string, readonly number[]>();
  const note = (id: string, endMs: number) => ends.set(id, [...(ends.get(id) ?? []), endMs]);
  for (const { jobId, endMs } of underWay) if (jobId !== undefined) note(jobId, endMs);
  return (starts: readonly JobStart[]): readonly JobStart[] =>
    starts.filter(({ atMs, durationMs, limit }) => {
      if (limit === undefined) return true;
      const { id, most } = limit;
      const going = (ends.get(id) ?? []).filter((endMs) => endMs > atMs);
      ends.set(id, going);
      const isSkipped = going.length >= most;
      if (!isSkipped) note(id, atMs + durationMs);
      return !isSkipped;
    });
}

/** If runs in progress already exceed the threads, the hour begins with too many runs. */
function within({ most, exceededMs }: Contention, beginMs: number): Contention {
  return { most, exceededMs: exceededMs === undefined ? undefined : Math.max(exceededMs, beginMs) };
}

/** Returns the runs of these starts. A run takes a millisecond at least. */
function toRuns(starts: readonly JobStart[]): readonly RunUnderWay[] {
  return starts.map(({ atMs, durationMs, job }) => ({ endMs: atMs + Math.max(durationMs, 1), job }));
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

/** The maximum number of jobs that a page names for one hour. */
const maxNamed = 20;

type ExpectedStart = { readonly atMs: number; readonly durationMs: number };

export type Contention = {
  readonly most: number;
  /** The first time with more runs than threads; undefined if there are always enough threads. */
  readonly exceededMs: number | undefined;
};

/** Computes the maximum number of concurrent runs in a window, including runs in progress. */
function findContention(
  starts: readonly ExpectedStart[],
  { running, fromMs, toMs, threads }: Window,
): Contention & Pick<PlannedAhead, 'crowds'> {
  const own = starts.filter(({ atMs }) => atMs > fromMs && atMs <= toMs);
  const begins = new Float64Array(own.length);
  const ends = new Float64Array(running.length + own.length);
  let place = 0;
  for (const endMs of running) ends[place++] = endMs;
  for (const { atMs, durationMs } of own) {
    begins[place - running.length] = atMs;
    ends[place++] = atMs + Math.max(durationMs, 1);
  }
  begins.sort();
  ends.sort();
  let ended = 0;
  let now = running.length;
  let most = now;
  let exceededMs = threads !== undefined && now > threads ? fromMs : undefined;
  const crowds = new Map<number, Crowd>();
  let sinceMs: number | undefined;
  let next = 0;
  for (const atMs of begins) {
    next += 1;
    // A run that ends frees its thread for a run that starts at the same moment.
    while ((ends[ended] ?? Infinity) <= atMs) ended += 1;
    now += 1;
    most = Math.max(most, now - ended);
    if (threads === undefined) continue;
    if (now - ended > threads) exceededMs ??= atMs;
    // If several runs start at the same time, any of these runs may be without a thread.
    if (begins[next] === atMs) continue;
    sinceMs = now - ended > threads ? (sinceMs ?? atMs) : undefined;
    if (sinceMs !== undefined) crowds.set(sinceMs, { fromMs: sinceMs, toMs: atMs });
  }
  return { most, exceededMs, crowds: [...crowds.values()] };
}

type Window = {
  readonly running: readonly number[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly threads: number | undefined;
};
