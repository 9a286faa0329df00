import { toPresentNames } from '../../diagnosis/changes/deciding/kinds.ts';
import type { Explanation } from '../../diagnosis/changes/explain.ts';
import { listRunning } from '../../status/running.ts';
import { type ShownJob, toShownJob } from '../../status/shown-job.ts';
import type { EndedStatus } from '../../status/status.ts';
import type { ServerPolls } from '../server-polls.ts';
import type { toExecutionSettings } from '../server-settings.ts';
import type { WatchOptions } from '../server-targets.ts';
import { createJobNames } from './job-names.ts';

type Known = Pick<ServerPolls, 'executions' | 'expected' | 'changes'> &
  Pick<WatchOptions, 'clock' | 'traces' | 'config'> & {
    readonly executionSettings: ReturnType<typeof toExecutionSettings>;
    readonly ended: readonly EndedStatus[];
    readonly explain: (run: EndedStatus) => Explanation | undefined;
  };

/** Finds a job by its path `{project}/{group}/{name}`, with everything that is known about it. */
export function findJob(
  server: string,
  path: string,
  { executions, expected, changes, executionSettings, ended, explain, ...known }: Known,
): ShownJob | undefined {
  const status = executions?.status();
  return toShownJob({
    server,
    path,
    jobId: createJobNames({ executions, expected, changes }).idOf(path),
    nowMs: status?.nowMs ?? known.clock.now(),
    seenMs: status?.seenMs,
    schedule: expected?.find(path),
    ended,
    failureOf: (run) => known.traces?.causeOf(server, run)?.failure,
    lastFailure: known.traces?.lastFailureOf(server, path),
    stepShifts: known.traces?.stepShiftsOf(server, path),
    explain,
    explainShift: ({ project, group, name }, successMs, startedAtMs) =>
      changes?.explain({
        project,
        job: group === '' ? name : `${group}/${name}`,
        startedAtMs,
        failedNodes: [],
        failureClass: undefined,
        successMs,
      }),
    running: status === undefined ? [] : listRunning(status, executionSettings),
    factsOf: (...names) => executions?.factsOf(...names),
    usualMsOf: (...names) => executions?.durationMs(...names),
    overdueFactor: executionSettings.overdueFactorOf(path),
    overdueFloorMs: executionSettings.overdueFloorMs,
    about: known.config.jobs.aboutOf(path),
    changes:
      changes &&
      toPresentNames(changes.list()).changes.filter(({ kind, subject }) => kind !== 'run' && subject === path),
  });
}
