import type { JobNames } from '../../domain/execution.ts';
import type { Pause } from '../../domain/pause.ts';

/** A job with its expected start times; for a one-time run, its only start. */
export type ExpectedJob = {
  readonly job: JobNames;
  readonly isCritical: boolean;
  /** The duration; undefined if unknown, so that runs count only at the moment of their start. */
  readonly durationMs: number | undefined;
  /** Reports whether all starts up to a time are known. */
  readonly isTimedUntil: (toMs: number) => boolean;
  /** Returns the expected starts after `fromMs`, up to and including `toMs`. */
  readonly startsWithin: (fromMs: number, toMs: number) => readonly number[];
};

export type RunGoingOn = {
  readonly job: JobNames;
  readonly isCritical: boolean;
  readonly endMs: number;
  /** True if the usual duration is not known, so that the end is a guess. */
  readonly isUnmeasured?: boolean;
};

export type WindowWish = {
  readonly forMs: number;
  /** The span from now in which windows may start. */
  readonly withinMs: number;
  readonly count: number;
};

type WindowsInput = WindowWish & {
  readonly jobs: readonly ExpectedJob[];
  readonly running: readonly RunGoingOn[];
  readonly nowMs: number;
};

/** The runs of one job that a window affects: runs that start in the window, and runs in progress. */
export type Touched = { readonly job: JobNames; readonly isCritical: boolean; readonly count: number };

export type QuietWindow = {
  readonly startMs: number;
  readonly endMs: number;
  readonly runs: number;
  readonly critical: number;
  /** The number of jobs whose starts up to the end of the window are not all known. */
  readonly unknown: number;
  /** The number of jobs with runs of unknown duration that start before the window and may last until the window. */
  readonly unmeasured: number;
  /** Critical jobs first, then by number of runs. */
  readonly touched: readonly Touched[];
  /** The first start after the window, if it is within a day. */
  readonly next: { readonly atMs: number; readonly job: JobNames } | undefined;
};

/**
 * Finds the windows that affect the fewest critical runs, then the fewest runs, then the earliest windows. Windows do not
 * overlap and start at full minutes. From the time at which its starts are unknown, a job counts with the average number of its
 * known starts, but at least with one.
 */
export async function findWindows(input: WindowsInput, pause: Pause): Promise<readonly QuietWindow[]> {
  const { nowMs, withinMs, forMs, count } = input;
  const firstMs = Math.ceil(nowMs / minuteMs) * minuteMs;
  const minutes = Math.max(1, Math.floor((nowMs + withinMs - firstMs) / minuteMs) + 1);
  const counts = await countTouched(input, { firstMs, minutes }, pause);
  const windows: QuietWindow[] = [];
  // Equal minutes stay sorted by time.
  const order = Array.from({ length: minutes }, (_, minute) => minute).sort(
    (one, other) =>
      (counts.critical[one] ?? 0) - (counts.critical[other] ?? 0) || (counts.all[one] ?? 0) - (counts.all[other] ?? 0),
  );
  for (const minute of order) {
    if (windows.length >= count) break;
    const startMs = firstMs + minute * minuteMs;
    if (windows.every((better) => Math.abs(better.startMs - startMs) >= forMs))
      windows.push(await describe(startMs, input, pause));
  }
  return windows;
}

const minuteMs = 60_000;

type Grid = { readonly firstMs: number; readonly minutes: number };

/** Counts the runs that each window affects, by adding up the differences between neighbouring windows. */
async function countTouched({ jobs, running, nowMs, forMs }: WindowsInput, { firstMs, minutes }: Grid, pause: Pause) {
  const all = new Int32Array(minutes);
  const critical = new Int32Array(minutes);
  const add = (startMs: number, endMs: number, isCritical: boolean, weight = 1): void => {
    // A run is not affected if it starts when the window ends, or ends when the window starts. A typed array ignores places
    // after its end.
    const from = Math.max(0, Math.floor((startMs - forMs - firstMs) / minuteMs) + 1);
    const to = Math.min(minutes, Math.ceil((endMs - firstMs) / minuteMs));
    for (const counts of isCritical ? [all, critical] : [all]) {
      counts[from] = (counts[from] ?? 0) + weight;
      counts[to] = (counts[to] ?? 0) - weight;
    }
  };
  for (const { endMs, isCritical } of running) add(nowMs, endMs, isCritical);
  const lastMs = firstMs + minutes * minuteMs + forMs;
  for (const { startsWithin, durationMs, isCritical, isTimedUntil } of jobs) {
    await pause();
    if (!isTimedUntil(lastMs)) {
      const unknown = findFirst(minutes, (minute) => !isTimedUntil(firstMs + minute * minuteMs + forMs));
      const unknownMs = firstMs + unknown * minuteMs + forMs;
      const affectedMs = forMs + (durationMs ?? 0);
      const usual = (startsWithin(nowMs, unknownMs).length * affectedMs) / (unknownMs - nowMs);
      add(unknownMs - 1, lastMs + forMs, isCritical, Math.max(1, Math.ceil(usual)));
    }
    for (const atMs of startsWithin(nowMs, lastMs)) add(atMs, toEnd(atMs, durationMs), isCritical);
  }
  for (const counts of [all, critical])
    for (let minute = 1; minute < minutes; minute++) counts[minute] = (counts[minute] ?? 0) + (counts[minute - 1] ?? 0);
  return { all, critical };
}

/** Returns the first number for which `holds` is true, or `count`. For all greater numbers, `holds` must also be true. */
function findFirst(count: number, holds: (number: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function toEnd(atMs: number, durationMs: number | undefined): number {
  return atMs + Math.max(durationMs ?? 0, 1);
}

async function describe(startMs: number, input: WindowsInput, pause: Pause): Promise<QuietWindow> {
  const { jobs, running, nowMs, forMs } = input;
  const endMs = startMs + forMs;
  const touched = new Map<string, { job: JobNames; isCritical: boolean; count: number }>();
  const touch = ({ job, isCritical }: Pick<ExpectedJob, 'job' | 'isCritical'>, count: number): void => {
    const key = JSON.stringify([job.project, job.group, job.name]);
    touched.set(key, { job, isCritical, count: (touched.get(key)?.count ?? 0) + count });
  };
  let unknown = 0;
  let unmeasured = 0;
  for (const run of running) {
    if (run.endMs > startMs) touch(run, 1);
    else if (run.isUnmeasured === true) unmeasured += 1;
  }
  for (const each of jobs) {
    await pause();
    const { startsWithin, durationMs, isTimedUntil } = each;
    if (!isTimedUntil(endMs)) unknown += 1;
    if (durationMs === undefined && startsWithin(nowMs, startMs - 1).length > 0) unmeasured += 1;
    // A run is not affected if it ends when the window starts, or starts when the window ends.
    const fromMs = Math.max(nowMs, startMs - Math.max(durationMs ?? 0, 1));
    const own = startsWithin(fromMs, endMs - 1);
    if (own.length > 0) touch(each, own.length);
  }
  const all = [...touched.values()];
  return {
    startMs,
    endMs,
    runs: all.reduce((sum, { count }) => sum + count, 0),
    critical: all.reduce((sum, { count, isCritical }) => sum + (isCritical ? count : 0), 0),
    unknown,
    unmeasured,
    touched: all.sort((one, other) => Number(other.isCritical) - Number(one.isCritical) || other.count - one.count),
    next: await findNext(jobs, endMs, pause),
  };
}

/** Returns the next start. Searches far ahead only if nothing starts soon. */
async function findNext(jobs: readonly ExpectedJob[], fromMs: number, pause: Pause): Promise<QuietWindow['next']> {
  let next: QuietWindow['next'];
  for (const spanMs of [hourMs, 24 * hourMs]) {
    for (const { job, startsWithin } of jobs) {
      await pause();
      const [atMs] = startsWithin(fromMs - 1, next?.atMs ?? fromMs + spanMs);
      if (atMs !== undefined && (next === undefined || atMs < next.atMs)) next = { atMs, job };
    }
    if (next !== undefined) return next;
  }
  return undefined;
}

const hourMs = 60 * minuteMs;
