import type { Seen } from '../../domain/failure-class.ts';

/** A fingerprint of a job, with the ends of its first and last failure. */
export type Known = {
  readonly fingerprint: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
};

/** The fingerprints of a job, by its path `{project}/{group}/{name}`; the latest is last. */
export type KnownOfJob = { readonly job: string; readonly known: readonly Known[] };

/**
 * Adds a failure to the fingerprints of its job; the fingerprint with the oldest last failure is removed if there are too many.
 */
export function addKnown(
  known: readonly Known[],
  fingerprint: string,
  atMs: number,
): { readonly known: readonly Known[]; readonly seen: Seen } {
  const before = known.find((one) => one.fingerprint === fingerprint);
  const next: Known = {
    fingerprint,
    firstMs: Math.min(before?.firstMs ?? atMs, atMs),
    lastMs: Math.max(before?.lastMs ?? atMs, atMs),
    count: (before?.count ?? 0) + 1,
  };
  const others = known.filter((one) => one !== before);
  return {
    known: [...others, next].slice(-maxOfJob),
    seen: { fingerprint, firstMs: next.firstMs, count: next.count, beforeMs: before?.lastMs },
  };
}

const maxOfJob = 50;

/** Returns the job that failed last with the same lines, except this job. */
export function findOther(all: Iterable<KnownOfJob>, fingerprint: string, job: string): string | undefined {
  let latest: { readonly job: string; readonly lastMs: number } | undefined;
  for (const other of all) {
    const found = other.known.find((one) => one.fingerprint === fingerprint);
    if (found === undefined || other.job === job || found.lastMs <= (latest?.lastMs ?? -Infinity)) continue;
    latest = { job: other.job, lastMs: found.lastMs };
  }
  return latest?.job;
}

/** Older failures may become known later, so a failure may turn out not to be the first. */
export function refresh(seen: Seen, known: readonly Known[]): Seen {
  const now = known.find(({ fingerprint }) => fingerprint === seen.fingerprint);
  return now === undefined || now.firstMs >= seen.firstMs ? seen : { ...seen, firstMs: now.firstMs, count: now.count };
}
