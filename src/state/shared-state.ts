import { type State, StateError } from './state.ts';

/**
 * A database that several replicas share. A unit is a watched server. One replica at a time owns a unit, and only the
 * owner writes its state: every write checks the epoch.
 */
export type SharedState = {
  readonly leases: Leases;
  /**
   * Returns the state of a unit for the owner of a lease; its origin is `usual`. Writes of a unit (commits of the
   * ledger, changes of the spool, memories) run one after the other. Each write reads the owner, the epoch and the
   * number of commits in its own transaction, and increments this number. If one of the three is unexpected, the write
   * fails with a `FencedError` and changes nothing.
   */
  readonly owned: (unit: string, lease: Pick<Lease, 'epoch' | 'commits'>) => State;
  readonly close: () => Promise<void>;
};

/** The leases of units, by the clock of the database, never by the clock of a replica. */
export type Leases = {
  /**
   * Acquires a unit that was never owned, or whose lease has expired or belongs to this replica. The epoch increases
   * each time, so that writes with an earlier epoch are fenced. The new epoch exceeds `knownEpoch`, which the database
   * may have lost. If another replica owns the unit, returns its lease.
   */
  readonly acquire: (unit: string, ttlMs: number, knownEpoch?: number) => Promise<Acquired>;
  /** Extends the lease. Returns false if the unit has another owner or epoch. */
  readonly renew: (unit: string, epoch: number, ttlMs: number) => Promise<boolean>;
  /** Sets the digest of the configuration and the address for leases that this replica acquires or renews. */
  readonly configure: (digest: string, address: string) => void;
  /** Ends the lease of an epoch now. A lease of another epoch is not changed. */
  readonly release: (unit: string, epoch: number) => Promise<void>;
  /** Returns all leases, including expired leases. */
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
  /** The time until the lease expires; 0 or less after it has expired. */
  readonly remainingMs: number;
  /** The number of writes that all owners committed. A smaller number means that the database lost transactions. */
  readonly commits: number;
  /** The digest of the owner's configuration, if set. */
  readonly configuration?: string | undefined;
};

export type Replica = Pick<Lease, 'owner' | 'address'>;

/** A write that was fenced. A fenced write changed nothing, and cannot change anything later. */
export class FencedError extends StateError {
  override readonly name = 'FencedError';
  readonly why: FenceReason;

  constructor(message: string, why: FenceReason) {
    super(message);
    this.why = why;
  }
}

/** The reason of a fence: another epoch owns the unit, or the database has lost commits that this process relies on. */
export type FenceReason = 'taken' | 'behind';

/** `migrate` has started to copy a unit. No replica may own the unit until the copy is complete. */
export class UnfinishedCopyError extends StateError {
  override readonly name = 'UnfinishedCopyError';
}

/** A commit without a response, which may still happen. The caller must acquire the unit again, to fence the commit. */
export class UnansweredError extends StateError {
  override readonly name = 'UnansweredError';
}
