import type { JobNames } from '../../domain/job-path.ts';
import { type Contention, type ExpectedStart, findContention } from './contention.ts';
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

type Window = {
  readonly underWay: readonly RunUnderWay[];
  readonly fromMs: number;
  readonly threads: number | undefined;
};

/** Plans the next 24 hours, the one under way first: how much starts, how many runs there are at once, and what collides. */
export function planHoursAhead(
  starts: readonly JobStart[],
  { underWay, fromMs, threads }: Window,
): readonly HourAhead[] {
  const hours = Array.from({ length: 24 }, (_, index) => toHour(fromMs) + index * hourMs);
  const byHour = toPieces(starts, hours[0] ?? fromMs);
  return hours.map((startMs, index) => {
    const beginMs = Math.max(startMs, fromMs);
    const carried = byHour.carried[index] ?? [];
    const own = byHour.own[index] ?? [];
    const before = [...underWay.filter(({ endMs }) => endMs > beginMs), ...carried];
    const contention = findContention(own, {
      running: before.map(({ endMs }) => endMs),
      // A start on the hour belongs to it.
      fromMs: startMs > fromMs ? startMs - 1 : fromMs,
      toMs: startMs + hourMs - 1,
      threads,
    });
    return { startMs, starts: own.length, most: contention.most, exceeded: toExceeded(contention, before, own) };
  });
}

/** Sorts starts into the hours that they begin in, and those that they last into. */
function toPieces(starts: readonly JobStart[], firstMs: number) {
  const own: JobStart[][] = Array.from({ length: 24 }, () => []);
  const carried: RunUnderWay[][] = Array.from({ length: 24 }, () => []);
  for (const start of starts) {
    const index = Math.floor((start.atMs - firstMs) / hourMs);
    own[index]?.push(start);
    const endMs = start.atMs + Math.max(start.durationMs, 1);
    for (let later = index + 1; later < 24 && firstMs + later * hourMs < endMs; later++) {
      carried[later]?.push({ endMs, job: start.job });
    }
  }
  return { own, carried };
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
  return { atMs: exceededMs, jobs: [...jobs.values()].slice(0, mostNamed), jobCount: jobs.size };
}

/** The most jobs of an hour that a page names. */
const mostNamed = 20;
