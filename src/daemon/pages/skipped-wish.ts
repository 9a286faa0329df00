import type { JobNames } from '../../domain/execution.ts';
import { type JobFacts, toJobPath } from '../../domain/job.ts';
import type { Executions } from '../../executions/executions.ts';
import type { Success } from '../../expected-runs/risks/find-skipped.ts';
import type { SkippedWish, TimeOrAge } from '../../http/pages/tonight/skipped-page.ts';

/** Converts the requested interval to server time, and adds the known successes of each job. */
export function toSkippedWish(
  { since, until }: SkippedWish,
  nowMs: number,
  executions: Pick<Executions, 'status'> | undefined,
) {
  const toMs = (time: TimeOrAge): number => ('atMs' in time ? time.atMs : nowMs - time.agoMs);
  const untilMs = Math.min(toMs(until), nowMs);
  return { sinceMs: Math.max(toMs(since), nowMs - keptMs), untilMs, successes: listSuccesses(executions?.status()) };
}

/** How long missed runs are stored. */
const keptMs = 7 * 86_400_000;

/** Lists the successes of the newest finished runs, and the last success of each job. */
function listSuccesses(status: ReturnType<Executions['status']> | undefined): ReadonlyMap<string, readonly Success[]> {
  const known = new Map<string, Success[]>();
  const add = (of: JobNames & { readonly jobId?: string | undefined }, success: Success): void => {
    const key = of.jobId ?? toJobPath(of);
    known.set(key, [...(known.get(key) ?? []), success]);
  };
  for (const { id, startedAtMs, ending, ...job } of status?.recent ?? [])
    if (ending === 'succeeded') add(job, { id, startedAtMs });
  for (const facts of status?.jobs.values() ?? []) for (const success of toLastSuccess(facts)) add(facts, success);
  for (const successes of known.values()) successes.sort((one, other) => one.startedAtMs - other.startedAtMs);
  return known;
}

/** Returns the last success. The start of an older success is computed from its end and duration. */
function toLastSuccess(facts: JobFacts): readonly Success[] {
  const { lastEnding, lastId, lastStartMs, lastEndMs, lastDurationMs = 0, lastSuccessMs, drift } = facts;
  if (lastEnding === 'succeeded') {
    // The last run to start may not be the last to end.
    const isOfLast = facts.lastDurationOfMs === lastEndMs;
    return [{ id: lastId, startedAtMs: isOfLast ? lastEndMs - lastDurationMs : lastStartMs }];
  }
  const tenths = drift?.tenths.at(-1);
  if (lastSuccessMs === undefined || tenths === undefined) return [];
  return drift?.lastMinute === Math.floor(lastSuccessMs / 60_000)
    ? [{ startedAtMs: lastSuccessMs - tenths * 100 }]
    : [];
}
