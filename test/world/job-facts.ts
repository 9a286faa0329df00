import { type Execution, endedAt, toStatus } from '../../simulator/world/installation.ts';
import type { Scene } from './scene.ts';
import { labelOf, type Shown } from './shown.ts';

type Newest = { successMs: number; endMs: number; id: number };

const ofSuccess = 'automation_job_last_success_timestamp_seconds';
const ofEnd = 'automation_job_last_end_timestamp_seconds';
const ofId = 'automation_job_last_execution_id';

/** Checks the last values of each job. */
export function judgeJobs(
  { service, estate, truth }: Scene,
  shown: Shown,
  counted: ReadonlyMap<Execution, string>,
  onFault: (oracle: string, says: string) => void,
): void {
  // If a run's end is in the future, the exporter uses the time of reading as its end.
  const isStepped = truth.troubles.some(({ byMs = 0 }) => Math.abs(byMs) > 300_000);
  const newest = new Map<string, Newest>();
  for (const [execution, project] of counted) {
    const { job, id } = execution;
    if (job === undefined || execution.jobDeleted || truth.excluded.some(({ of }) => of === job)) continue;
    // A run under an earlier name of its job counts for that name.
    if (job.generation > 0 || project !== job.project.name) continue;
    const key = toKey(project, job.definition.group ?? '', job.definition.name);
    const known = newest.get(key) ?? { successMs: 0, endMs: 0, id: 0 };
    const endMs = endedAt(execution);
    const isSuccess = toStatus(execution, service.world.playedMs) === 'succeeded';
    if (isSuccess) known.successMs = Math.max(known.successMs, endMs);
    if (endMs > known.endMs || (endMs === known.endMs && id > known.id)) Object.assign(known, { endMs, id });
    newest.set(key, known);
  }
  const names = new Set<string>();
  for (const { definition, project } of service.world.jobs.values())
    names.add(toKey(project.name, definition.group ?? '', definition.name));
  const places = new Set(estate.places.map(({ name }) => name));
  for (const [key, value] of shown) {
    if (!key.startsWith('automation_job_last_') && !key.startsWith('automation_job_consecutive_')) continue;
    const project = labelOf(key, 'project') ?? '';
    const job = toKey(project, labelOf(key, 'job_group') ?? '', labelOf(key, 'job_name') ?? '');
    if (places.has(project) && !names.has(job)) onFault('facts end with their job', `${key} ${value}`);
    const known = newest.get(job);
    if (known === undefined || isStepped) continue;
    const expected = toExpected(key, known);
    if (expected !== undefined && Math.abs(expected - value) > 0.0015)
      onFault('facts are of the newest run', `${key} ${value} instead of ${expected}`);
  }
}

function toExpected(key: string, { successMs, endMs, id }: Newest): number | undefined {
  if (key.startsWith(ofSuccess)) return successMs / 1000;
  if (key.startsWith(ofEnd)) return endMs / 1000;
  return key.startsWith(ofId) ? id : undefined;
}

function toKey(...labels: readonly string[]): string {
  return JSON.stringify(labels);
}
