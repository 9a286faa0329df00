import { toJobPath } from '../../domain/job-path.ts';
import type { Executions } from '../../executions/executions.ts';
import type { Success } from '../../expected-runs/risks/find-skipped.ts';
import type { SkippedWish, TimeOrAge } from '../../http/pages/tonight/skipped-page.ts';

/** Resolves an interval by the server's clock, and adds the known successes of each job. */
export function toSkippedWish(
  { since, until }: SkippedWish,
  nowMs: number,
  executions: Pick<Executions, 'status'> | undefined,
) {
  const toMs = (time: TimeOrAge): number => ('atMs' in time ? time.atMs : nowMs - time.agoMs);
  const untilMs = Math.min(toMs(until), nowMs);
  return { sinceMs: toMs(since), untilMs, successes: listSuccesses(executions?.status()) };
}

/** The newest finished runs, and the last run of each job, which may have ended before them. */
function listSuccesses(status: ReturnType<Executions['status']> | undefined): ReadonlyMap<string, readonly Success[]> {
  const known = new Map<string, Success[]>();
  const add = (path: string, success: Success): void => {
    known.set(path, [...(known.get(path) ?? []), success]);
  };
  for (const { id, startedAtMs, ending, ...names } of status?.recent ?? [])
    if (ending === 'succeeded') add(toJobPath(names), { id, startedAtMs });
  for (const facts of status?.jobs.values() ?? [])
    if (facts.lastEnding === 'succeeded') add(toJobPath(facts), { id: facts.lastId, startedAtMs: facts.lastStartMs });
  for (const successes of known.values()) successes.sort((one, other) => one.startedAtMs - other.startedAtMs);
  return known;
}
