import type { WatchedJob } from '../../src/expected-runs/deciding/watched-job.ts';

/** A job without runs, edits or switches. Its name is its id. */
export function someJob(fields: Partial<WatchedJob> = {}): WatchedJob {
  const id = fields.id ?? 'a';
  const times = { sinceMs: 0, decidedMs: 0, listedAtMs: 0 };
  return { id, project: 'pay', group: '', name: id, ...times, off: [], runs: [], verdicts: [], ...fields };
}
