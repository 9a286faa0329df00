import type { Execution } from '../domain/execution.ts';
import type { SeenRun } from './deciding/watched-job.ts';
import type { ExecutionsPort } from './executions-port.ts';

export function toSeenRuns(executions: readonly Execution[]): ReadonlyMap<string, readonly SeenRun[]> {
  const byJob = new Map<string, SeenRun[]>();
  for (const execution of executions) {
    const id = execution.job?.id;
    const run = toSeenRun(execution);
    if (id === undefined || run === undefined) continue;
    const known = byJob.get(id);
    if (known === undefined) byJob.set(id, [run]);
    else known.push(run);
  }
  return byJob;
}

/** Returns the run of an execution; undefined for a waiting execution, which has not started. */
function toSeenRun(execution: Execution): SeenRun | undefined {
  const { id, status, startedAtMs, endedAtMs, lacksStart, interruptedAtMs } = execution;
  const isWaiting = endedAtMs === undefined && (status === 'scheduled' || status === 'queued');
  if (isWaiting || lacksStart === true || !Number.isFinite(startedAtMs)) return undefined;
  const isInterrupted = interruptedAtMs === undefined ? {} : { isInterrupted: true as const };
  return {
    id,
    startedAtMs,
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
    kind: toKind(execution),
    ...isInterrupted,
  };
}

/** Records the waiting times of one-time runs, because the server counts waiting runs as runs of their job. */
export function createWaits() {
  const waits = new Map<number, SeenRun & { readonly jobId: string; readonly endedAtMs: number }>();
  return {
    note: (running: readonly Execution[], nowMs: number): void => {
      const listed = new Set<number>();
      for (const { id, job: { id: jobId } = {}, status, startedAtMs, endedAtMs } of running) {
        if (jobId === undefined || status !== 'scheduled' || endedAtMs !== undefined || !(startedAtMs > nowMs))
          continue;
        listed.add(id);
        const fromMs = waits.get(id)?.startedAtMs ?? nowMs;
        waits.set(id, { id, jobId, kind: 'waiting', startedAtMs: fromMs, endedAtMs: startedAtMs });
      }
      for (const [id, wait] of waits) {
        // A waiting run that is no longer listed was aborted.
        if (!listed.has(id) && wait.endedAtMs > nowMs) waits.set(id, { ...wait, endedAtMs: nowMs });
        if (wait.endedAtMs < nowMs - keptForMs) waits.delete(id);
      }
    },
    of: (jobId: string): readonly SeenRun[] => [...waits.values()].filter((wait) => wait.jobId === jobId),
  };
}

const keptForMs = 6 * 3_600_000;

/** Returns the kind of a run. Only a scheduled first attempt matches an expected time. Old rows have no trigger. */
function toKind({ status, type, attempt = 0 }: Execution): SeenRun['kind'] {
  if (status === 'missed') return 'missed';
  const isScheduled = type === undefined || type === 'scheduled';
  return isScheduled && attempt === 0 ? 'scheduled' : 'other';
}

/**
 * Tracks the time up to which all runs of a project are known. A run that started before a list of running executions is in the
 * list or has ended. So all runs that started before a list are known once all executions that ended before the list have been
 * read.
 */
export function createClearTimes() {
  const clear = new Map<string, number>();
  const waiting = new Map<string, readonly Candidate[]>();
  const lists = new Map<string, readonly Execution[]>();
  return {
    note: (port: Pick<ExecutionsPort, 'progress' | 'running' | 'runningReadMs'>): void => {
      const executions = port.running();
      for (const [project, { scannedThroughMs }] of port.progress() ?? []) {
        const known = waiting.get(project) ?? [];
        const candidate = known.findLast(({ readAtMs }) => scannedThroughMs >= readAtMs + lateMs);
        if (candidate !== undefined) {
          clear.set(project, candidate.readAtMs);
          lists.set(
            project,
            candidate.executions.filter((execution) => execution.project === project),
          );
        }
        // Runs after the new time are unknown if the clock was set back.
        clear.set(project, Math.min(clear.get(project) ?? Number.NEGATIVE_INFINITY, scannedThroughMs));
        const readAtMs = port.runningReadMs(project) ?? Number.POSITIVE_INFINITY;
        const left = known.slice(candidate === undefined ? 0 : known.indexOf(candidate) + 1);
        const earlier = left.filter((one) => one.readAtMs < readAtMs);
        const isNew = Number.isFinite(readAtMs) && earlier.length < maxCandidates;
        waiting.set(project, isNew ? [...earlier, { readAtMs, executions }] : earlier);
      }
    },
    /** Returns the executions of the last lists. Some of the executions may have ended since. */
    listed: (): readonly Execution[] => [...lists.values()].flat(),
    /** Returns the time before which all runs of the project are known. */
    of: (project: string): number => clear.get(project) ?? Number.NEGATIVE_INFINITY,
  };
}

/** A list of running executions, which waits until all executions that ended before the list have been read. */
type Candidate = { readonly readAtMs: number; readonly executions: readonly Execution[] };

/** Executions become visible up to 50 s late. */
const lateMs = 60_000;
/** The maximum number of waiting lists. While ends are not read, the oldest lists stay, and new lists are dropped. */
const maxCandidates = 8;
