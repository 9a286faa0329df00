import { type Ending, toEnding } from './naming.ts';
import type { Finished } from './reconcile.ts';
import type { JobFacts } from './totals.ts';

type Labels = Pick<JobFacts, 'project' | 'group' | 'name'>;
type Failures = Pick<JobFacts, 'consecutiveFailures' | 'failedMs'>;

/**
 * Updates the facts of a job with one more run: each fact comes from the newest run that has it, in whatever order runs become
 * known.
 */
export function toFacts(labels: Labels, run: Finished, before: JobFacts | undefined): JobFacts {
  const { id, endedAtMs } = run;
  const ending = toEnding(run);
  const isNewest = isAfter(run, before);
  const newest = isNewest || before === undefined ? run : undefined;
  return {
    ...labels,
    jobId: newest?.job?.id ?? before?.jobId ?? run.job?.id,
    lastStartMs: toLastStart(run, before),
    lastEndMs: newest?.endedAtMs ?? before?.lastEndMs ?? endedAtMs,
    lastSuccessMs: ending === 'succeeded' ? latest(endedAtMs, before?.lastSuccessMs) : before?.lastSuccessMs,
    ...toLastDuration(run, before),
    lastId: newest?.id ?? before?.lastId ?? id,
    ...toLastFailure(run, ending, before),
    lastEnding: newest === undefined ? (before?.lastEnding ?? ending) : ending,
    ...toFailures(run, ending, before),
    averageDurationMs: newest?.job?.averageDurationMs ?? before?.averageDurationMs ?? run.job?.averageDurationMs,
  };
}

const failures: readonly Ending[] = ['failed', 'timedout', 'other'];
/** The most failures in a row whose ends are kept. */
const mostKnown = 20;

/** By the end, and where two ended at the same time by the id. */
function isAfter({ endedAtMs, id }: Finished, before: JobFacts | undefined): boolean {
  if (before === undefined || endedAtMs !== before.lastEndMs) return endedAtMs > (before?.lastEndMs ?? -Infinity);
  return id > before.lastId;
}

/** A run that lacks its start sets the last start only if no other run does. */
function toLastStart({ startedAtMs, lacksStart }: Finished, before: JobFacts | undefined): number {
  if (before === undefined) return startedAtMs;
  return lacksStart === true ? before.lastStartMs : Math.max(before.lastStartMs, startedAtMs);
}

function toLastDuration(
  { startedAtMs, endedAtMs, lacksStart }: Finished,
  before: JobFacts | undefined,
): Pick<JobFacts, 'lastDurationMs' | 'lastDurationOfMs'> {
  const { lastDurationMs, lastDurationOfMs = lastDurationMs === undefined ? undefined : before?.lastEndMs } =
    before ?? {};
  const durationMs = endedAtMs - startedAtMs;
  const isKnown = durationMs >= 0 && lacksStart !== true;
  if (!isKnown || endedAtMs < (lastDurationOfMs ?? -Infinity)) return { lastDurationMs, lastDurationOfMs };
  return { lastDurationMs: durationMs, lastDurationOfMs: endedAtMs };
}

function toLastFailure(
  { id, endedAtMs }: Finished,
  ending: Ending,
  before: JobFacts | undefined,
): Pick<JobFacts, 'lastFailedId' | 'lastFailedMs'> {
  const { lastFailedId, lastFailedMs } = before ?? {};
  if (!failures.includes(ending)) return { lastFailedId, lastFailedMs };
  // If the end of the last failure is unknown, ids show which run came later.
  const isNewer = lastFailedMs === undefined ? id > (lastFailedId ?? 0) : endedAtMs >= lastFailedMs;
  return isNewer ? { lastFailedId: id, lastFailedMs: endedAtMs } : { lastFailedId, lastFailedMs };
}

/**
 * Failures that ended after the last success, however late either became known. Only the newest of them are known by their ends:
 * a success that turns up from before all of these resets none of the others.
 */
function toFailures(run: Finished, ending: Ending, before: JobFacts | undefined): Failures {
  const { consecutiveFailures = 0, failedMs = [], lastSuccessMs = -Infinity } = before ?? {};
  const { endedAtMs } = run;
  const unknown = consecutiveFailures - failedMs.length;
  const asBefore = { consecutiveFailures, failedMs };
  if (ending === 'succeeded') {
    if (endedAtMs < lastSuccessMs) return asBefore;
    const later = failedMs.filter((failed) => failed > endedAtMs);
    const isLaterThanUnknown = isAfter(run, before) || later.length < failedMs.length;
    const left = isLaterThanUnknown ? 0 : unknown;
    return { consecutiveFailures: later.length + left, failedMs: later };
  }
  const isAfterSuccess = endedAtMs > lastSuccessMs || (endedAtMs === lastSuccessMs && isAfter(run, before));
  if (!failures.includes(ending) || !isAfterSuccess) return asBefore;
  const known = [...failedMs, endedAtMs].sort((one, other) => other - one).slice(0, mostKnown);
  return { consecutiveFailures: consecutiveFailures + 1, failedMs: known };
}

function latest(one: number, other: number | undefined): number {
  return Math.max(one, other ?? -Infinity);
}
