import type { Lease } from '../state/shared-state.ts';

/** A lease that this replica holds, by its own clock that only goes forwards. */
export type Tenure = {
  readonly epoch: number;
  /** When the last request was sent that the database acknowledged: the lease cannot expire earlier than its time after that. */
  readonly acknowledgedTicks: number;
};

export const leaseMs = 10_000;

/** Three tries fit into the time of a lease. */
export const renewEveryMs = leaseMs / 3;

/** The database lists a few rows: what is released is acquired soon. */
export const lookEveryMs = 500;

/** The time for which an owner acts without an acknowledged renewal; the rest of the lease is for what is under way. */
const actsForMs = (leaseMs * 2) / 3;

/** Returns the time for which an owner may still act; at most 0 once it may not. */
export function toActingMs({ acknowledgedTicks }: Tenure, nowTicks: number): number {
  return acknowledgedTicks + actsForMs - nowTicks;
}

/** Lists the units that may be acquired: those without a lease, with an expired one, or with one that is our own already. */
export function listFree(units: readonly string[], leases: readonly Lease[], ownName: string | undefined): string[] {
  const held = new Set(
    leases.filter(({ remainingMs, owner }) => remainingMs > 0 && owner !== ownName).map(({ unit }) => unit),
  );
  return units.filter((unit) => !held.has(unit));
}

/**
 * Computes how long a replica waits before it acquires a free unit: the more units it owns, the longer, so that replicas that
 * start together share them.
 */
export function toPatienceMs(owned: number, chance: number): number {
  return Math.min(owned + chance, maxSteps) * patienceStepMs;
}

const patienceStepMs = 250;
const maxSteps = 8;

/** Counts the commits that were known to be in the database and are not in it any longer. */
export function countLost({ commits }: Pick<Lease, 'commits'>, knownCommits = 0): number {
  return Math.max(0, knownCommits - commits);
}

/** What a replica knew of the units that it owned when it asked for the leases. */
export type Known = {
  /** The name of this replica in leases. */
  readonly owner: string | undefined;
  readonly epochs: ReadonlyMap<string, number>;
  /** The commits that the database had acknowledged. */
  readonly commits: ReadonlyMap<string, number>;
};

/** Lists the leases of our own units that lack commits: what was acknowledged before the question is in the answer, unless it is lost. */
export function listBehind(leases: readonly Lease[], { epochs, commits }: Omit<Known, 'owner'>): Lease[] {
  return leases.filter(
    (lease) => epochs.get(lease.unit) === lease.epoch && countLost(lease, commits.get(lease.unit)) > 0,
  );
}

/**
 * Lists the units that were our own when the leases were asked for, and are not: the lease was deleted, was taken, or was lost
 * with the last transactions of the database.
 */
export function listGone(leases: readonly Lease[], { owner, epochs }: Omit<Known, 'commits'>): Gone[] {
  return [...epochs].flatMap(([unit, epoch]) => {
    const isOurs = leases.some((lease) => lease.unit === unit && lease.epoch === epoch && lease.owner === owner);
    return isOurs ? [] : [{ unit, epoch }];
  });
}

type Gone = Pick<Lease, 'unit' | 'epoch'>;
