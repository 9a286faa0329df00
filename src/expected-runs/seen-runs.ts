import type { Execution } from '../domain/execution.ts';
import type { SeenRun } from './deciding/watched-job.ts';

/** The runs of each job, by its id. */
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

/** Undefined for what waits: it has not started. */
function toSeenRun(execution: Execution): SeenRun | undefined {
  const { id, status, startedAtMs, endedAtMs, lacksStart } = execution;
  const isWaiting = endedAtMs === undefined && (status === 'scheduled' || status === 'queued');
  if (isWaiting || lacksStart === true || !Number.isFinite(startedAtMs)) return undefined;
  return { id, startedAtMs, ...(endedAtMs === undefined ? {} : { endedAtMs }), kind: toKind(execution) };
}

/** Only a first attempt that the schedule started satisfies it; old rows do not say what started them. */
function toKind({ status, type, attempt = 0 }: Execution): SeenRun['kind'] {
  if (status === 'missed') return 'missed';
  const isScheduled = type === undefined || type === 'scheduled';
  return isScheduled && attempt === 0 ? 'scheduled' : 'other';
}
