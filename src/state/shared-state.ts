import { type State, StateError } from './state.ts';

/**
 * A database that several replicas share. A unit is a watched server: one replica at a time owns it, and only the owner writes
 * its state. Every write checks the owner's epoch in its own transaction.
 */
export type SharedState = {
  readonly leases: Leases;
  /**
   * Returns the state of a unit for the owner of this lease; its origin is `usual`. Writes of a unit (commits of the
   * ledger, changes of the spool, memories) run one after the other. Each reads the owner, the epoch and the number of
   * commits in its own transaction, and increments that number. If one of them is unexpected, it fails with a
   * `FencedError` and writes nothing.
   */
  readonly owned: (unit: string, lease: Pick<Lease, 'epoch' | 'commits'>) => State;
  readonly close: () => Promise<void>;
};

/** The leases of units, by the clock of the database, never by the clock of a replica. */
export type Leases = {
  /**
   * Acquires a unit that was never owned, whose lease has expired, or that this replica already owns. The epoch increases each
   * time, so that writes with an earlier epoch are fenced; it also exceeds `knownEpoch`, which the database may have lost.
   * Otherwise returns the lease of the other replica.
   */
  readonly acquire: (unit: string, ttlMs: number, knownEpoch?: number) => Promise<Acquired>;
  /** Extends the lease; false if the unit has another owner or epoch. */
  readonly renew: (unit: string, epoch: number, ttlMs: number) => Promise<boolean>;
  /** Sets the configuration digest and the address of leases that this replica acquires or renews. */
  readonly configure: (digest: string, address: string) => void;
  /** Ends the lease of this epoch now; a lease of another epoch is not affected. */
  readonly release: (unit: string, epoch: number) => Promise<void>;
  /** Returns every lease, including expired ones. */
  readonly list: () => Promise<readonly Lease[]>;
};

export type Acquired = { readonly isOurs: boolean; readonly lease: Lease };

export type Lease = {
  readonly unit: string;
  /** A name that is unique for each process. */
  readonly owner: string;
  /** The address at which people and scrapers reach the owner. */
  readonly address: string;
  readonly epoch: number;
  /** The time until the lease expires; 0 or less afterwards. */
  readonly remainingMs: number;
  /**
   * The number of writes that all owners of the unit have committed. If it decreases, the database has lost its last
   * transactions.
   */
  readonly commits: number;
  /** The digest of the owner's configuration, if set. */
  readonly configuration?: string | undefined;
};

export type Replica = Pick<Lease, 'owner' | 'address'>;

/** A write that was fenced: nothing was written, and nothing will be written. */
export class FencedError extends StateError {
  override readonly name = 'FencedError';
  readonly why: FenceReason;

  constructor(message: string, why: FenceReason) {
    super(message);
    this.why = why;
  }
}

/** Another epoch owns the unit; or the database has lost commits that this process relies on, because a standby was behind. */
export type FenceReason = 'taken' | 'behind';

/** `migrate` has started to fill a unit: no replica may own it until the copy is complete. */
export class UnfinishedCopyError extends StateError {
  override readonly name = 'UnfinishedCopyError';
}

/**
 * A commit without an answer: it may have happened, or may happen later. The caller must acquire the unit again, which fences
 * the write, and must load the stored state.
 */
export class UnansweredError extends StateError {
  override readonly name = 'UnansweredError';
}
