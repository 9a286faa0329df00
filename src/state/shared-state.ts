import { type State, StateError } from './state.ts';

/**
 * A database that several replicas share. A unit is a watched server: one replica at a time owns it, and only the owner
 * writes its state. Every write checks the owner's epoch in its own transaction.
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

/** The leases of units. Only the database's clock is used, never a replica's. */
export type Leases = {
  /**
   * Takes a unit that was never owned, whose lease has expired, or that this replica owns already. The epoch grows each
   * time, so that writes in progress with an earlier one are fenced; it also exceeds `knownEpoch`, which the database
   * may have lost. Otherwise returns the lease of the other replica.
   */
  readonly acquire: (unit: string, ttlMs: number, knownEpoch?: number) => Promise<Acquired>;
  /** Extends the lease; false if the unit has another owner or epoch. */
  readonly renew: (unit: string, epoch: number, ttlMs: number) => Promise<boolean>;
  /** Sets the configuration digest that this replica's leases carry when acquired or renewed. */
  readonly configure: (digest: string) => void;
  /** Lets the lease of this epoch expire now; no effect on another epoch. */
  readonly release: (unit: string, epoch: number) => Promise<void>;
  /** Returns every lease, including expired ones. */
  readonly list: () => Promise<readonly Lease[]>;
};

export type Acquired = { readonly isOurs: boolean; readonly lease: Lease };

export type Lease = {
  readonly unit: string;
  /** A name that is unique to this process, and new after a restart. */
  readonly owner: string;
  /** Where people and scrapers reach the owner. */
  readonly address: string;
  readonly epoch: number;
  /** The time until it expires; at most 0 once it has. */
  readonly remainingMs: number;
  /**
   * The number of writes committed for the unit by all its owners. If it decreases, the database has lost its last
   * transactions.
   */
  readonly commits: number;
  /** The digest of the owner's configuration, if set. */
  readonly configuration?: string | undefined;
};

export type Replica = Pick<Lease, 'owner' | 'address'>;

/** A write that was fenced: nothing was written, and nothing will be. */
export class FencedError extends StateError {
  override readonly name = 'FencedError';
  readonly why: FenceReason;

  constructor(message: string, why: FenceReason) {
    super(message);
    this.why = why;
  }
}

/** Another epoch owns the unit, or the database has lost commits (a standby was behind) that this process relies on. */
export type FenceReason = 'taken' | 'behind';

/** A unit that `migrate` has begun to fill; nobody may own it until the copy is complete. */
export class UnfinishedCopyError extends StateError {
  override readonly name = 'UnfinishedCopyError';
}

/**
 * A commit without an answer: it may have happened, or happen later. The caller must acquire the unit again, which
 * fences the write, and load what is stored.
 */
export class UnansweredError extends StateError {
  override readonly name = 'UnansweredError';
}
