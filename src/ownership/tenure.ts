import type { Lease } from '../state/shared-state.ts';

/** A lease of this replica, by its own monotonic clock. */
export type Tenure = {
  readonly epoch: number;
  /** The start of the last acknowledged request. The lease lasts at least its full time from this start on. */
  readonly acknowledgedTicks: number;
};

export const leaseMs = 10_000;

/** A lease lasts for three attempts to renew it. */
export const renewEveryMs = leaseMs / 3;

/** How often leases are read. The interval is short, so that released units are acquired soon. */
export const lookEveryMs = 500;

/** How long an owner acts without an acknowledged renewal. The rest of the lease is for work in progress. */
const actsForMs = (leaseMs * 2) / 3;

/** Returns how long an owner may still act; 0 or less if it may no longer act. */
export function toActingMs({ acknowledgedTicks }: Tenure, nowTicks: number): number {
  return acknowledgedTicks + actsForMs - nowTicks;
}

/** Lists the units that may be acquired: without a lease, with an expired lease, or with a lease of this replica. */
export function listFree(units: readonly string[], leases: readonly Lease[], ownName: string | undefined): string[] {
  const held = new Set(
    leases.filter(({ remainingMs, owner }) => remainingMs > 0 && owner !== ownName).map(({ unit }) => unit),
  );
  return units.filter((unit) => !held.has(unit));
}

/** Returns how long a replica waits before it acquires a free unit; owners of many units wait longer. */
export function toPatienceMs(owned: number, chance: number): number {
  return Math.min(owned + chance, maxSteps) * patienceStepMs;
}

/** How long a replica leaves a unit to others after its work did not start, because the start would probably fail again. */
export const restMs = 30_000;

const patienceStepMs = 250;
const maxSteps = 8;

export function countLost({ commits }: Pick<Lease, 'commits'>, knownCommits = 0): number {
  return Math.max(0, knownCommits - commits);
}

/** The state of this replica's units at the time when it read the leases. */
type Known = {
  readonly owner: string | undefined;
  readonly epochs: ReadonlyMap<string, number>;
  /** The number of commits of each unit that the database acknowledged. */
  readonly commits: ReadonlyMap<string, number>;
};

/** Lists own leases with commits that the database acknowledged and lost. */
export function listBehind(leases: readonly Lease[], { epochs, commits }: Omit<Known, 'owner'>): Lease[] {
  return leases.filter(
    (lease) => epochs.get(lease.unit) === lease.epoch && countLost(lease, commits.get(lease.unit)) > 0,
  );
}

/**
 * Lists units that this replica owned when it requested the leases, and does not own in the response: the lease was deleted,
 * taken, or lost with the last transactions of the database.
 */
export function listGone(leases: readonly Lease[], { owner, epochs }: Omit<Known, 'commits'>): Gone[] {
  return [...epochs].flatMap(([unit, epoch]) => {
    const isOurs = leases.some((lease) => lease.unit === unit && lease.epoch === epoch && lease.owner === owner);
    return isOurs ? [] : [{ unit, epoch }];
  });
}

type Gone = Pick<Lease, 'unit' | 'epoch'>;
