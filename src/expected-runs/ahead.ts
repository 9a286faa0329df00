import type { Pause } from '../domain/pause.ts';
import {
  type Crowd,
  type JobStart,
  type PlannedAhead,
  planHoursAhead,
  type RunUnderWay,
} from './deciding/hours-ahead.ts';
import { isProjectOff } from './deciding/sources.ts';
import { timesWithin } from './deciding/timetable.ts';
import { isOff } from './deciding/watched-job.ts';
import type { ExecutionsPort } from './executions-port.ts';
import type { ExpectedJobs } from './expected-jobs.ts';
import { findRisks, type RisksAhead } from './risks/find-risks.ts';
import { toSeenRuns } from './seen-runs.ts';
import type { ExpectedRunsSettings } from './settings.ts';
import type { SourceNotes } from './sources.ts';

type AheadOptions = {
  readonly jobs: Pick<ExpectedJobs, 'all'>;
  readonly port: Pick<ExecutionsPort, 'running' | 'durationMs'>;
  readonly notes: Pick<SourceNotes, 'all' | 'serverNowMs' | 'threads'>;
};

/** Plans the next day: the runs under way, and the starts in the timetables of all jobs. */
export function lookAhead({ jobs, port, notes }: AheadOptions, pause: Pause): Promise<PlannedAhead> {
  return planHoursAhead({
    startsWithin: toStarts({ jobs, port, notes }),
    underWay: toUnderWay(port),
    fromMs: notes.serverNowMs(),
    threads: notes.threads(),
    pause,
  });
}

type RisksOptions = AheadOptions & {
  readonly jobs: Pick<ExpectedJobs, 'nodes'>;
  readonly port: Pick<ExecutionsPort, 'factsOf'>;
  readonly settings: Pick<ExpectedRunsSettings, 'isCriticalJob'>;
};

/** Finds the runs of the next hours that known trouble awaits; crowds are from the last plan. */
export function lookForRisks(
  { jobs, port, notes, settings }: RisksOptions,
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
      nodes: jobs.nodes,
      running: toSeenRuns(port.running()),
      crowds,
      isCritical: settings.isCriticalJob,
    },
    pause,
  );
}

/** Returns the expected starts; a run of unknown duration counts for one moment. */
function toStarts({ jobs, port, notes }: AheadOptions): (fromMs: number, toMs: number) => readonly JobStart[] {
  const expected = [...jobs.all.values()].flatMap((job) => {
    const { timetable, project, group, name } = job;
    const isQuiet = job.goneAtMs !== undefined || isOff(job) || isProjectOff(notes.all(), project);
    if (timetable === undefined || isQuiet) return [];
    return [{ job, timetable, durationMs: port.durationMs(project, group, name) ?? 0 }];
  });
  return (fromMs, toMs) => {
    const starts: JobStart[] = [];
    for (const { job, timetable, durationMs } of expected) {
      for (const atMs of timesWithin(timetable, fromMs, toMs)) starts.push({ atMs, durationMs, job });
    }
    return starts;
  };
}

function toUnderWay(port: AheadOptions['port']): readonly RunUnderWay[] {
  return port.running().flatMap(({ status, startedAtMs, project = '', job }) => {
    if (status === 'scheduled' || status === 'queued') return [];
    const names = { project, group: job?.group ?? '', name: job?.name ?? '' };
    const durationMs = port.durationMs(project, names.group, names.name) ?? job?.averageDurationMs ?? 0;
    return [{ endMs: startedAtMs + durationMs, job: names }];
  });
}
