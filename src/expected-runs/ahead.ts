import type { Surroundings } from '../domain/failure-class.ts';
import { toJobPath } from '../domain/job.ts';
import type { Pause } from '../domain/pause.ts';
import { type Blocker, findServerBlockers } from './deciding/blockers.ts';
import { toMostAtOnce } from './deciding/doubts.ts';
import {
  type Crowd,
  type JobStart,
  joinPlans,
  type PlannedAhead,
  planHoursAhead,
  type RunUnderWay,
} from './deciding/hours-ahead.ts';
import { isProjectOff } from './deciding/sources.ts';
import { isTimedUntil, type Timetable, timesWithin } from './deciding/timetable.ts';
import { isOff, type WatchedJob } from './deciding/watched-job.ts';
import type { ExecutionsPort } from './executions-port.ts';
import type { ExpectedJobs } from './expected-jobs.ts';
import { findRisks, type RisksAhead } from './risks/find-risks.ts';
import { findSkipped, type Skipped, type SkippedInput } from './risks/find-skipped.ts';
import {
  type ExpectedJob,
  findWindows,
  type QuietWindow,
  type RunGoingOn,
  type WindowWish,
} from './risks/find-windows.ts';
import { toSeenRuns } from './seen-runs.ts';
import type { ExpectedRunsSettings } from './settings.ts';
import type { SourceNotes } from './sources.ts';

type AheadOptions = {
  readonly jobs: Pick<ExpectedJobs, 'all'>;
  readonly port: Pick<ExecutionsPort, 'running' | 'durationMs'>;
  readonly notes: Pick<SourceNotes, 'all' | 'serverNowMs' | 'threads'>;
};

type Planned = PlannedAhead & { readonly threads: number | undefined };

/** Plans the next day from the runs in progress and the timetables of all jobs. Each member of a cluster starts its own jobs. */
async function lookAhead({ jobs, port, notes }: AheadOptions, pause: Pause): Promise<Planned> {
  const expected = listExpected({ jobs, port, notes });
  const underWay = toUnderWay(port);
  const fromMs = notes.serverNowMs();
  const plan = (own: readonly Expected[], running: typeof underWay, threads: number | undefined) =>
    planHoursAhead({ startsWithin: toStarts(own), underWay: running, fromMs, threads, pause });
  // A job without a known owner may run on any member.
  const owners = [...new Set(expected.flatMap(({ job }) => job.ownerUuid ?? []))];
  if (owners.length < 2) {
    const threads = notes.threads(owners[0]);
    return { ...(await plan(expected, underWay, threads)), threads };
  }
  const members = new Map<string, PlannedAhead>();
  for (const uuid of owners) {
    const own = expected.filter(({ job }) => job.ownerUuid === uuid);
    const isOwn = ({ jobId = '' }: RunUnderWay): boolean => jobs.all.get(jobId)?.ownerUuid === uuid;
    members.set(uuid, await plan(own, underWay.filter(isOwn), notes.threads(uuid)));
  }
  const sizes = owners.map((uuid) => notes.threads(uuid) ?? Number.NaN);
  const threads = sizes.reduce((sum, size) => sum + size, 0);
  const whole = joinPlans(await plan(expected, underWay, undefined), members);
  return { ...whole, threads: Number.isNaN(threads) ? undefined : threads };
}

type RisksOptions = AheadOptions & {
  readonly jobs: Pick<ExpectedJobs, 'failingNodes' | 'hours'>;
  readonly port: Pick<ExecutionsPort, 'factsOf' | 'progress' | 'runningReadMs'>;
  readonly settings: Pick<ExpectedRunsSettings, 'isCriticalJob'>;
  readonly surroundings: () => Surroundings | undefined;
};

type RisksShown = Readonly<Record<'1h' | '12h', RisksAhead>>;

/** Stores the last plan, and computes the content of pages from it. */
export function createOutlook(options: RisksOptions) {
  let ahead: (Planned & { readonly atMs: number }) | undefined;
  let risks: RisksShown | undefined;
  return {
    /** Finds the runs at risk for series and problems; undefined before executions were read. */
    judge: async (pause: Pause): Promise<RisksShown | undefined> => {
      if (options.port.progress() === undefined) return undefined;
      const look = (hours: number) => lookForRisks(options, { hours, crowds: ahead?.crowds ?? [] }, pause);
      risks = { '1h': await look(1), '12h': await look(12) };
      return risks;
    },
    lastRisks: () => risks?.['12h'],
    plan: async (pause: Pause): Promise<PlannedAhead> => {
      const { notes } = options;
      const atMs = notes.serverNowMs();
      const planned = await lookAhead(options, pause);
      ahead = { ...planned, atMs };
      return planned;
    },
    ahead: () => ahead,
    exceededMs: () => ahead?.day.exceededMs,
    risks: (hours: number, pause: Pause) => lookForRisks(options, { hours, crowds: ahead?.crowds ?? [] }, pause),
    skipped: (wish: Pick<SkippedInput, 'sinceMs' | 'untilMs' | 'successes'>, pause: Pause) =>
      lookForSkipped(options, wish, pause),
    windows: (wish: WindowWish, pause: Pause) => lookForWindows(options, wish, pause),
  };
}

/**
 * Finds the runs at risk in the next hours. `crowds` are the spans of the last plan in which runs start without a free thread.
 */
function lookForRisks(
  { jobs, port, notes, settings, surroundings }: RisksOptions,
  { hours, crowds }: { readonly hours: number; readonly crowds: readonly Crowd[] },
  pause: Pause,
): Promise<RisksAhead> {
  const nowMs = notes.serverNowMs();
  return findRisks(
    {
      jobs: jobs.all.values(),
      nowMs,
      untilMs: nowMs + hours * 3_600_000,
      sources: notes.all(),
      factsOf: port.factsOf,
      durationMs: port.durationMs,
      nodes: jobs.failingNodes(),
      surroundings: surroundings(),
      running: toSeenRuns(port.running()),
      crowds,
      areThreadsKnown: notes.threads() !== undefined,
      isCritical: settings.isCriticalJob,
    },
    pause,
  );
}

export type WindowsAhead = {
  readonly nowMs: number;
  readonly windows: readonly QuietWindow[];
  /** The reason why the server is passive; undefined while it is active. */
  readonly passive: Blocker | undefined;
  readonly running: readonly RunGoingOn[];
  /** Projects whose running executions cannot be read, or are not known at the moment. */
  readonly unread: readonly string[];
  /** The number of runs in progress that take longer than usual, so that their end is not known. */
  readonly overdue: number;
  readonly jobCount: number;
  /** The number of jobs whose starts are not known, and of jobs whose durations are not known. */
  readonly untimed: number;
  readonly unmeasured: number;
};

async function lookForSkipped(
  { jobs, settings, notes, port }: RisksOptions,
  wish: Pick<SkippedInput, 'sinceMs' | 'untilMs' | 'successes'>,
  pause: Pause,
): Promise<Skipped> {
  const isOffNow = (project: string): boolean => isProjectOff(notes.all(), project);
  const known = { jobs: jobs.all.values(), hours: jobs.hours(), running: toSeenRuns(port.running()) };
  const input = { ...wish, ...known, isCritical: settings.isCriticalJob, isProjectOff: isOffNow };
  const skipped = await findSkipped(input, pause);
  const left = skipped.runs.filter(({ recovered }) => recovered === undefined);
  return { ...skipped, isUnread: left.some(({ job }) => port.runningReadMs(job.project) === undefined) };
}

async function lookForWindows(options: RisksOptions, wish: WindowWish, pause: Pause): Promise<WindowsAhead> {
  const { jobs, port, notes, settings } = options;
  const nowMs = notes.serverNowMs();
  const passive = findServerBlockers(notes.all(), nowMs).find(({ reason }) => reason === 'passive');
  const expected = listExpected(options);
  const underWay = toUnderWay(port);
  const runs = underWay.map(({ endMs, job, isMeasured }) => ({
    // A run that is overdue by some time is expected to end after the same time from now.
    endMs: endMs > nowMs ? endMs : nowMs + Math.max(nowMs - endMs, minuteMs),
    job,
    isCritical: settings.isCriticalJob(toJobPath(job)),
    isUnmeasured: !isMeasured,
  }));
  const coming =
    passive === undefined
      ? [...expected.map((one) => toExpectedJob(one, settings)), ...listUntimed(options), ...listOneTime(options)]
      : [];
  const throughMs = nowMs + wish.withinMs + wish.forMs;
  const there = [...jobs.all.values()].filter(({ goneAtMs }) => goneAtMs === undefined);
  return {
    nowMs,
    windows: await findWindows({ ...wish, nowMs, running: runs, jobs: coming }, pause),
    passive,
    running: runs,
    unread: [...new Set(there.map(({ project }) => project))].filter((one) => port.runningReadMs(one) === undefined),
    overdue: underWay.filter(({ endMs, isMeasured }) => isMeasured && endMs <= nowMs).length,
    jobCount: there.length,
    untimed: there.filter((job) => !isTimedUntil(job.timetable, throughMs) && !isQuiet(job, notes)).length,
    unmeasured: expected.filter(({ durationMs }) => durationMs === undefined).length,
  };
}

const minuteMs = 60_000;

function toExpectedJob({ job, timetable, durationMs }: Expected, settings: RisksOptions['settings']): ExpectedJob {
  const isCritical = settings.isCriticalJob(toJobPath(job));
  return {
    job,
    isCritical,
    durationMs,
    isTimedUntil: (toMs) => isTimedUntil(timetable, toMs),
    startsWithin: (fromMs, toMs) => timesWithin(timetable, fromMs, toMs),
  };
}

/** Reports whether a job is deleted or switched off, or its project is switched off. */
function isQuiet(job: WatchedJob, notes: Pick<SourceNotes, 'all'>): boolean {
  return job.goneAtMs !== undefined || isOff(job) || isProjectOff(notes.all(), job.project);
}

/** Lists jobs whose schedules were not read yet. Jobs whose schedules were not read may start at any time. */
function listUntimed({ jobs, notes, settings }: RisksOptions): readonly ExpectedJob[] {
  return [...jobs.all.values()].flatMap((job) => {
    if (job.timetable !== undefined || isQuiet(job, notes)) return [];
    const isCritical = settings.isCriticalJob(toJobPath(job));
    return [{ job, isCritical, durationMs: undefined, isTimedUntil: () => false, startsWithin: () => [] }];
  });
}

/** Lists one-time runs that a person scheduled. */
function listOneTime({ port, settings }: RisksOptions): readonly ExpectedJob[] {
  return port.running().flatMap(({ status, startedAtMs, project = '', job }) => {
    if (status !== 'scheduled' || !Number.isFinite(startedAtMs)) return [];
    const names = { project, group: job?.group ?? '', name: job?.name ?? '' };
    const durationMs = port.durationMs(project, names.group, names.name, job?.id);
    const startsWithin = (fromMs: number, toMs: number) =>
      startedAtMs > fromMs && startedAtMs <= toMs ? [startedAtMs] : [];
    const isCritical = settings.isCriticalJob(toJobPath(names));
    return [{ job: names, isCritical, durationMs, isTimedUntil: () => true, startsWithin }];
  });
}

type Expected = { readonly job: WatchedJob; readonly timetable: Timetable; readonly durationMs: number | undefined };

function listExpected({ jobs, port, notes }: AheadOptions): readonly Expected[] {
  return [...jobs.all.values()].flatMap((job) => {
    const { timetable, project, group, name } = job;
    if (timetable === undefined || isQuiet(job, notes)) return [];
    return [{ job, timetable, durationMs: port.durationMs(project, group, name, job.id) }];
  });
}

/** Returns the expected starts. A run of unknown duration counts only at the moment of its start. */
function toStarts(expected: readonly Expected[]): (fromMs: number, toMs: number) => readonly JobStart[] {
  return (fromMs, toMs) => {
    const starts: JobStart[] = [];
    for (const { job, timetable, durationMs = 0 } of expected) {
      const most = toMostAtOnce(job);
      const limited = Number.isFinite(most) ? { limit: { id: job.id, most } } : {};
      for (const atMs of timesWithin(timetable, fromMs, toMs)) starts.push({ atMs, durationMs, job, ...limited });
    }
    return starts;
  };
}

/** Returns the runs in progress. A run of unknown duration may end at any moment. */
function toUnderWay(port: AheadOptions['port']): readonly (RunUnderWay & { readonly isMeasured: boolean })[] {
  return port.running().flatMap(({ status, startedAtMs, project = '', job }) => {
    if (status === 'scheduled' || status === 'queued') return [];
    const names = { project, group: job?.group ?? '', name: job?.name ?? '' };
    const durationMs = port.durationMs(project, names.group, names.name, job?.id) ?? job?.averageDurationMs;
    const endMs = startedAtMs + (durationMs ?? 0);
    return [{ endMs, job: names, jobId: job?.id, isMeasured: durationMs !== undefined }];
  });
}
