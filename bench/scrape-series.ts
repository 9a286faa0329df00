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

/** Creates the rows of one collector with new strings and values, as after an answer. */
export function createRows(collector: number, rows: number, round: number): Row[] {
  const family = families[collector];
  if (family === undefined) return [];
  const jobs = JSON.stringify(Array.from({ length: rows / statuses.length }, (_, job) => toJob(job)));
  // This cast is safe: the text was written by the line above.
  return (JSON.parse(jobs) as readonly ReturnType<typeof toJob>[]).flatMap((labels, job) =>
    statuses.flatMap((status) => family.rows(job + round, { ...labels, status })),
  );
}

function toJob(job: number) {
  return {
    project: `project-${job % 50}`,
    job_group: `nightly/area-${job % 7}`,
    job_name: `synchronise-warehouse-${job}`,
  };
}

/** Publishes the next rows of one collector, as a poll does. */
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
