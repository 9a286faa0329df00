import type { Seen } from '../../domain/failure-class.ts';

/** A fingerprint of a job, with the ends of its first and last failure. */
export type Known = {
  readonly fingerprint: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
  /** The ends of the latest failures, ascending; absent in states of earlier releases. */
  readonly recentMs?: readonly number[];
};

/** The fingerprints of a job by its last path `{project}/{group}/{name}`; the latest is last. */
export type KnownOfJob = { readonly job: string; readonly id?: string | undefined; readonly known: readonly Known[] };

/**
 * Adds a failure to the fingerprints of its job. The fingerprint with the oldest last failure is removed if there are too many.
 */
export function addKnown(
  known: readonly Known[],
  fingerprint: string,
  atMs: number,
): { readonly known: readonly Known[]; readonly seen: Seen } {
  const before = known.find((one) => one.fingerprint === fingerprint);
  const recentMs = [...(before === undefined ? [] : (before.recentMs ?? [before.lastMs])), atMs];
  const next: Known = {
    fingerprint,
    firstMs: Math.min(before?.firstMs ?? atMs, atMs),
    lastMs: Math.max(before?.lastMs ?? atMs, atMs),
    count: (before?.count ?? 0) + 1,
    recentMs: recentMs.sort((one, other) => one - other).slice(-maxRecent),
  };
  const others = known.filter((one) => one !== before);
  return { known: [...others, next].slice(-maxOfJob), seen: toSeen(next, atMs) };
}

const maxOfJob = 50;
const maxRecent = 10;

/**
 * Returns the facts about a fingerprint at a failure. Later failures may already be known, because new executions are read
 * first.
 */
function toSeen({ fingerprint, firstMs, count, recentMs = [] }: Known, atMs: number): Seen {
  const later = recentMs.filter((endedAtMs) => endedAtMs > atMs).length;
  const beforeMs = recentMs.findLast((endedAtMs) => endedAtMs < atMs);
  return { fingerprint, firstMs, count: count - later, beforeMs };
}

/** Returns the job that failed last with the same lines. */
export function findOther(all: Iterable<KnownOfJob>, fingerprint: string): string | undefined {
  let latest: { readonly job: string; readonly lastMs: number } | undefined;
  for (const other of all) {
    const found = other.known.find((one) => one.fingerprint === fingerprint);
    if (found === undefined || found.lastMs <= (latest?.lastMs ?? -Infinity)) continue;
    latest = { job: other.job, lastMs: found.lastMs };
  }
  return latest?.job;
}

/** Counts a failure again, because older failures may become known later. */
export function refresh(seen: Seen, known: readonly Known[], endedAtMs: number): Seen {
  const now = known.find(({ fingerprint }) => fingerprint === seen.fingerprint);
  if (now?.recentMs?.includes(endedAtMs) === true) return { ...seen, ...toSeen(now, endedAtMs) };
  return now === undefined || now.firstMs >= seen.firstMs ? seen : { ...seen, firstMs: now.firstMs, count: now.count };
}
