import type { Lease } from '../state/shared-state.ts';

/** A lease of this replica, in ticks of its own monotonic clock. */
export type Tenure = {
  readonly epoch: number;
  /** When the last acknowledged request began. From then on, the lease lasts for at least its full time. */
  readonly acknowledgedTicks: number;
};

export const leaseMs = 10_000;

/** A lease lasts for three attempts to renew it. */
export const renewEveryMs = leaseMs / 3;

/** How often leases are read: often, so that released units are acquired soon. */
export const lookEveryMs = 500;

/** How long an owner acts without an acknowledged renewal. Work in progress has the rest of the lease. */
const actsForMs = (leaseMs * 2) / 3;

/** Returns how long an owner may still act; 0 or less if it may not. */
export function toActingMs({ acknowledgedTicks }: Tenure, nowTicks: number): number {
  return acknowledgedTicks + actsForMs - nowTicks;
}

/** Lists units to acquire: without a lease, with an expired lease, or with a lease of this replica. */
export function listFree(units: readonly string[], leases: readonly Lease[], ownName: string | undefined): string[] {
  const held = new Set(
    leases.filter(({ remainingMs, owner }) => remainingMs > 0 && owner !== ownName).map(({ unit }) => unit),
  );
  return units.filter((unit) => !held.has(unit));
}

/** Returns how long a replica waits before it acquires a free unit. Owners of many units wait longer. */
export function toPatienceMs(owned: number, chance: number): number {
  return Math.min(owned + chance, maxSteps) * patienceStepMs;
}

/** How long a replica leaves a unit to others after its work did not start, because it would probably fail again. */
export const restMs = 30_000;

const patienceStepMs = 250;
const maxSteps = 8;

export function countLost({ commits }: Pick<Lease, 'commits'>, knownCommits = 0): number {
  return Math.max(0, knownCommits - commits);
}

/** What this replica knew about its units when it requested the leases. */
type Known = {
  readonly owner: string | undefined;
  readonly epochs: ReadonlyMap<string, number>;
  /** How many commits of each unit the database acknowledged. */
  readonly commits: ReadonlyMap<string, number>;
};

/** Lists own leases whose commits the database acknowledged and then lost. */
export function listBehind(leases: readonly Lease[], { epochs, commits }: Omit<Known, 'owner'>): Lease[] {
  return leases.filter(
    (lease) => epochs.get(lease.unit) === lease.epoch && countLost(lease, commits.get(lease.unit)) > 0,
  );
}

/**
 * Lists units that this replica owned when it requested the leases, but not in the response: their leases were deleted,
 * taken, or lost with the last transactions of the database.
 */
export function listGone(leases: readonly Lease[], { owner, epochs }: Omit<Known, 'commits'>): Gone[] {
  return [...epochs].flatMap(([unit, epoch]) => {
    const isOurs = leases.some((lease) => lease.unit === unit && lease.epoch === epoch && lease.owner === owner);
    return isOurs ? [] : [{ unit, epoch }];
  });
}

type Gone = Pick<Lease, 'unit' | 'epoch'>;
