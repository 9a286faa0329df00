import { type State, StateError } from './state.ts';

/**
 * A database that several replicas share. A unit is a watched server: one replica at a time owns it, and only the owner writes
 * its state. Every write carries the epoch of its owner, and reads it again in its own transaction.
 */
export type SharedState = {
  readonly leases: Leases;
  /**
   * Returns the state of a unit for the owner that acquired this lease; its origin is `usual`. Writes of a unit (commits of the
   * ledger, changes of the spool, memories) happen one after the other. Each reads the owner, the epoch and the number of commits in
   * its own transaction, and adds one to that number. It fails with a `FencedError`, and nothing of it is written, where one
   * of them is not the expected one.
   */
  readonly owned: (unit: string, lease: Pick<Lease, 'epoch' | 'commits'>) => State;
  readonly close: () => Promise<void>;
};

/** The owners of the units, by the clock of the database only: no time of a replica enters or leaves. */
export type Leases = {
  /**
   * Takes a unit that nobody has owned, whose lease has expired, or that this replica owns already. The epoch grows each time, so
   * that every write under way with an earlier one is fenced; it also exceeds the highest one that the caller knows, which a
   * database may have lost. Otherwise returns the lease of the other replica.
   */
  readonly acquire: (unit: string, ttlMs: number, knownEpoch?: number) => Promise<Acquired>;
  /** Extends the lease; false if the unit has another owner or epoch by now. */
  readonly renew: (unit: string, epoch: number, ttlMs: number) => Promise<boolean>;
  /** Sets the digest of the configuration that each lease of this replica bears once it is acquired or renewed. */
  readonly configure: (digest: string) => void;
  /** Lets the lease of this epoch expire now; another epoch stays as it is. */
  readonly release: (unit: string, epoch: number) => Promise<void>;
  /** Returns every lease, expired ones too. */
  readonly list: () => Promise<readonly Lease[]>;
};

export type Acquired = { readonly isOurs: boolean; readonly lease: Lease };

export type Lease = {
  readonly unit: string;
  /** A name that no other process has, nor the same one after a restart. */
  readonly owner: string;
  /** Where people and scrapes reach the owner. */
  readonly address: string;
  readonly epoch: number;
  /** The time until it expires; at most 0 once it has. */
  readonly remainingMs: number;
  /**
   * The number of writes that were committed for the unit, by all its owners. If it is smaller than it was, the database has lost
   * its last transactions.
   */
  readonly commits: number;
  /** The digest of the owner's configuration, where it has given one. */
  readonly configuration?: string | undefined;
};

/** The replica that a connection to the shared state acts for. */
export type Replica = Pick<Lease, 'owner' | 'address'>;

/** A write that was fenced: nothing of it was written, and nothing ever will be. */
export class FencedError extends StateError {
  override readonly name = 'FencedError';
  readonly why: FenceReason;

  constructor(message: string, why: FenceReason) {
    super(message);
    this.why = why;
  }
}

/** Another epoch owns the unit; or the database has lost commits (with a standby that was behind), and with them what we know. */
export type FenceReason = 'taken' | 'behind';

/** A unit that `migrate` has begun to fill, and that nobody may own until the copy is complete. */
export class UnfinishedCopyError extends StateError {
  override readonly name = 'UnfinishedCopyError';
}

/**
 * A commit that was sent and not answered: it may have happened, now or later. Whoever made it acquires the unit again, which
 * fences what may still be under way, and loads what is there.
 */
export class UnansweredError extends StateError {
  override readonly name = 'UnansweredError';
}
