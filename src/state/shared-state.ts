import { type State, StateError } from './state.ts';

/**
 * A database that several replicas share. A unit is a watched server. One replica at a time owns a unit, and only the
 * owner writes its state: each write checks the epoch.
 */
export type SharedState = {
  readonly leases: Leases;
  /**
   * Returns the state of a unit for the owner of a lease; its origin is `usual`. Writes of a unit (commits of the
   * ledger, changes of the spool, memories) run one after the other. In its own transaction, each write reads the
   * owner, the epoch and the number of commits, and increments the number. If any of them is unexpected, the write
   * fails with a `FencedError` and changes nothing.
   */
  readonly owned: (unit: string, lease: Pick<Lease, 'epoch' | 'commits'>) => State;
  readonly close: () => Promise<void>;
};

/** The leases of units, by the clock of the database, never by the clock of a replica. */
export type Leases = {
  /**
   * Acquires a unit that was never owned, whose lease has expired, or that this replica owns. The epoch increases each
   * time, so that writes of earlier epochs are fenced. The new epoch exceeds `knownEpoch`, which the database may have
   * lost. If another replica owns the unit, its lease is returned.
   */
  readonly acquire: (unit: string, ttlMs: number, knownEpoch?: number) => Promise<Acquired>;
  /** Extends the lease. Returns false if the unit has another owner or epoch. */
  readonly renew: (unit: string, epoch: number, ttlMs: number) => Promise<boolean>;
  /** Sets the digest of the configuration, and the address, for leases that the replica acquires or renews. */
  readonly configure: (digest: string, address: string) => void;
  /** Ends the lease now, if it has the given epoch. */
  readonly release: (unit: string, epoch: number) => Promise<void>;
  /** Returns all leases, even those that have expired. */
  readonly list: () => Promise<readonly Lease[]>;
};

export type Acquired = { readonly isOurs: boolean; readonly lease: Lease };

export type Lease = {
  readonly unit: string;
  /** The name of the owner, unique for each process. */
  readonly owner: string;
  /** The address at which people and scrapers reach the owner. */
  readonly address: string;
  readonly epoch: number;
  /** How long the lease lasts; 0 or less after it has expired. */
  readonly remainingMs: number;
  /** How many writes all owners committed. If the number fell, the database lost transactions. */
  readonly commits: number;
  /** The digest of the owner's configuration, if set. */
  readonly configuration?: string | undefined;
};

export type Replica = Pick<Lease, 'owner' | 'address'>;

/** A write that was fenced: it changed nothing, and cannot change anything later. */
export class FencedError extends StateError {
  override readonly name = 'FencedError';
  readonly why: FenceReason;

  constructor(message: string, why: FenceReason) {
    super(message);
    this.why = why;
  }
}

/** Why a write was fenced: another epoch owns the unit, or the database has lost commits that the process relies on. */
export type FenceReason = 'taken' | 'behind';

/** `migrate` has begun to copy a unit. No replica may own the unit until its copy is complete. */
export class UnfinishedCopyError extends StateError {
  override readonly name = 'UnfinishedCopyError';
}

/** A commit without a response. It may still happen, so the caller must acquire the unit again, to fence it. */
export class UnansweredError extends StateError {
  override readonly name = 'UnansweredError';
}
