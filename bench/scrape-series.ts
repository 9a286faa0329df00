import { counter, type Row } from '../src/metrics/family.ts';
import type { Snapshots } from '../src/metrics/snapshot.ts';

export const collectorCount = 20;

const statuses = ['succeeded', 'failed', 'aborted', 'timedout', 'failed-with-retry', 'other', 'missed', 'scheduled'];

const families = Array.from({ length: collectorCount }, (_, index) =>
  counter(
    `automation_bench${index}_executions_total`,
    'Executions of a job by status.',
    'project',
    'job_group',
    'job_name',
    'status',
  ),
);

/** As many rows as one collector brings, with new strings as from an answer, and values of this round. */
export function createRows(collector: number, rows: number, round: number): Row[] {
  const family = families[collector];
  if (family === undefined) return [];
  return Array.from({ length: rows }, (_, index) => {
    const job = Math.floor(index / statuses.length);
    return family.rows(index + round, {
      project: `project-${job % 50}`,
      job_group: `nightly/area-${job % 7}`,
      job_name: `synchronise-warehouse-${job}`,
      status: statuses[index % statuses.length],
    });
  }).flat();
}

/** The next rows of one collector, as the schedule publishes them. */
export function publishRows(snapshots: Snapshots, collector: number, rows: readonly Row[]): Promise<void> {
  return snapshots.publish({
    source: `prod ${collector}`,
    server: 'prod',
    collector: `collector-${collector}`,
    baseLabels: [['server', 'prod']],
    rows,
    validForMs: 3_600_000,
  });
}
