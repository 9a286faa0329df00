import { type Clock, sleep } from '../domain/clock.ts';
import { createQueue } from '../domain/pause.ts';
import {
  type Acquired,
  type FenceReason,
  type Lease,
  type Leases,
  UnfinishedCopyError,
} from '../state/shared-state.ts';
import { countLost, leaseMs, listBehind, listFree, listGone, lookEveryMs, restMs, toPatienceMs } from './tenure.ts';
import { createReach, createTenures, type ReachObserver, type Tenures, type TenuresOptions } from './tenures.ts';

/** Why a replica stops watching a unit: fenced, not renewed in time, unanswered commit, configuration, or release. */
export type LossReason = FenceReason | 'unrenewed' | 'unanswered' | 'reloaded' | 'left';

export type Gained = {
  readonly unit: string;
  readonly lease: Lease;
  /** The number of known commits that the database has lost. */
  readonly lostCommits: number;
};

type OwnershipOptions = {
  readonly units: readonly string[];
  readonly leases: Leases;
  readonly clock: Pick<Clock, 'ticks' | 'after' | 'random'>;
  readonly begin: (gained: Gained) => void;
  /** Hides a unit immediately. Resolves when all work of the unit has ended. */
  readonly end: (unit: string, reason: LossReason) => Promise<void>;
  readonly observe: OwnershipObserver;
};

export type OwnershipObserver = ReachObserver & {
  /** Called with all leases whenever they were read. */
  readonly listed: (leases: readonly Lease[]) => void;
  readonly gained: (gained: Gained) => void;
  readonly lost: (unit: string, reason: LossReason) => void;
  /**
   * Called if a unit cannot be acquired because `migrate` has not finished its copy, or if the work of a unit cannot start or
   * end.
   */
  readonly heldBack: (unit: string, error: unknown) => void;
};

export type Ownership = {
  readonly start: () => void;
  /** Ends all units and releases their leases, so that other replicas need not wait for the leases to expire. */
  readonly stop: () => Promise<void>;
  /** Ends all units, changes the configuration, and starts the units again. Units that were removed are released. */
  readonly reload: (units: readonly string[], change: () => Promise<void>) => Promise<void>;
  /** Call if a write was fenced, or got no response. */
  readonly noteFault: (unit: string, epoch: number, reason: LossReason) => void;
  /** Call after each committed write, to detect its loss later. */
  readonly noteCommit: (unit: string) => void;
  /** Ends units whose lease may have expired, because timers may be late. Also reports a slow database. */
  readonly check: () => void;
  /** Returns the epochs of the units that this replica watches. */
  readonly owned: () => ReadonlyMap<string, number>;
  /** Returns the leases that were read last, and the time in ticks. */
  readonly leases: () => { readonly leases: readonly Lease[]; readonly readTicks: number } | undefined;
};

/** Acquires free units and starts their work. Ends the work of a unit with its lease. */
export function createOwnership(options: OwnershipOptions): Ownership {
  const { leases, clock, observe } = options;
  let isOver = false;
  // Nothing is reported during the stop, because requests in progress fail.
  const reached: ReachObserver['reached'] = (...told) => (isOver ? undefined : observe.reached(...told));
  const { reach, check: checkReach } = createReach({ reached }, clock);
  const tenures = createTenures({ leases, clock, reach, onEnd: (unit, reason) => lose(unit, reason) });
  const known = createKnown();
  let { units } = options;
  let running = new AbortController();
  running.abort();
  const changeover = createChangeover((unit, epoch) => reach(() => leases.release(unit, epoch)));
  const changes = createChanges(observe.heldBack);
  const now: Now = { units: () => units, running: () => running, lose };
  const acquire = createAcquire({ ...options, reach, tenures, known }, now);
  const list = createList({ ...options, reach, tenures, known }, (found, { gone, behind }) => {
    for (const { unit, epoch } of gone) lose(unit, 'taken', epoch);
    for (const { unit, epoch } of behind) lose(unit, 'behind', epoch);
    const epochs = tenures.epochs();
    for (const unit of listFree(units, found, known.owner())) {
      if (!epochs.has(unit) && !changes.has(unit)) changes.add(unit, () => acquirePatiently(unit, running.signal));
    }
  });

  async function acquirePatiently(unit: string, signal: AbortSignal): Promise<void> {
    await sleep(clock, toPatienceMs(tenures.epochs().size, clock.random()), signal).catch(() => undefined);
    await acquire(unit);
  }

  /** Ends a unit. The unit is acquired again only after all its work has ended. */
  function lose(unit: string, reason: LossReason, only?: number, waitMs = 0): void {
    const epoch = tenures.end(unit, only);
    if (epoch === undefined) return;
    observe.lost(unit, reason);
    changes.add(unit, async () => {
      await options.end(unit, reason);
      if (reason === 'unanswered' || reason === 'behind') await acquire(unit);
      else if (reason === 'left') await reach(() => leases.release(unit, epoch));
      if (waitMs > 0) await sleep(clock, waitMs, running.signal).catch(() => undefined);
    });
  }

  async function endAll(reason: 'left' | 'reloaded'): Promise<void> {
    running.abort();
    for (const unit of tenures.epochs().keys()) lose(unit, reason);
    await changes.settle();
  }

  function start(): void {
    running = new AbortController();
    list.start(running.signal);
  }

  return {
    start,
    stop: async () => {
      await changeover.stop(() => endAll('left'));
      isOver = true;
    },
    reload: async (next, changeConfiguration) => {
      const epochs = new Map(tenures.epochs());
      const isStopped = await changeover.make(epochs, () => endAll('reloaded'), changeConfiguration);
      if (isStopped) return;
      units = next;
      start();
      for (const [unit, epoch] of epochs) {
        if (next.includes(unit)) changes.add(unit, () => acquire(unit));
        else await reach(() => leases.release(unit, epoch));
      }
    },
    noteFault: (unit, epoch, reason) => lose(unit, reason, epoch),
    noteCommit: known.add,
    check: () => {
      tenures.check();
      checkReach();
    },
    owned: tenures.epochs,
    leases: list.last,
  };
}

/** Makes a change of the configuration. If the exporter stops during the change, ended units are released. */
function createChangeover(release: (unit: string, epoch: number) => Promise<unknown>) {
  let isStopped = false;
  let ended: ReadonlyMap<string, number> = new Map();
  return {
    /** Ends all units and makes the change. Returns true if nothing may start afterwards. */
    make: async (epochs: ReadonlyMap<string, number>, end: () => Promise<void>, change: () => Promise<void>) => {
      ended = epochs;
      await end();
      if (!isStopped) await change();
      ended = new Map();
      return isStopped;
    },
    stop: async (endAll: () => Promise<void>): Promise<void> => {
      isStopped = true;
      const left = ended;
      await endAll();
      for (const [unit, epoch] of left) await release(unit, epoch);
    },
  };
}

/** Runs starts and ends of units, one at a time for each unit. */
function createChanges(onFault: (unit: string, error: unknown) => void) {
  const last = new Map<string, Promise<void>>();
  return {
    has: (unit: string): boolean => last.has(unit),
    add: (unit: string, work: () => Promise<void>): void => {
      const done = (last.get(unit) ?? Promise.resolve())
        .then(work)
        .catch((error: unknown) => onFault(unit, error))
        .finally(() => {
          if (last.get(unit) === done) last.delete(unit);
        });
      last.set(unit, done);
    },
    settle: async (): Promise<void> => {
      while (last.size > 0) await Promise.allSettled(last.values());
    },
  };
}

type Listing = Pick<OwnershipOptions, 'leases' | 'clock' | 'observe'> & Pick<Acquiring, 'reach' | 'tenures' | 'known'>;

/** Reads the leases until aborted. Reports all leases, and own leases that are gone or whose commits the database has lost. */
function createList(
  { leases, clock, observe, reach, tenures, known }: Listing,
  report: (found: readonly Lease[], lacking: { gone: ReturnType<typeof listGone>; behind: readonly Lease[] }) => void,
) {
  let last: ReturnType<Ownership['leases']>;
  const list = async (signal: AbortSignal): Promise<void> => {
    const asked = {
      readTicks: clock.ticks(),
      owner: known.owner(),
      epochs: tenures.epochs(),
      commits: known.commits(),
    };
    const found = await reach(leases.list);
    if (signal.aborted) return;
    void sleep(clock, lookEveryMs, signal).then(
      () => list(signal),
      () => undefined,
    );
    if (found === undefined) return;
    last = { leases: found, readTicks: asked.readTicks };
    observe.listed(found);
    const epochs = tenures.epochs();
    for (const lease of found) if (!epochs.has(lease.unit)) known.see(lease);
    report(found, { gone: listGone(found, asked), behind: listBehind(found, asked) });
  };
  return { start: (signal: AbortSignal): void => void list(signal), last: () => last };
}

type Acquiring = Pick<OwnershipOptions, 'leases' | 'clock' | 'observe' | 'begin'> & {
  reach: TenuresOptions['reach'];
  tenures: Tenures;
  known: ReturnType<typeof createKnown>;
};

type Now = {
  units: () => readonly string[];
  running: () => AbortController;
  /** Ends a unit and releases its lease. The unit can be acquired again after `waitMs`. */
  lose: (unit: string, reason: 'left', only: undefined, waitMs: number) => void;
};

/** Acquires a unit and starts it, if its lease is free. Acquires one unit at a time, so that renewals are never delayed. */
function createAcquire(
  { leases, clock, observe, begin, reach, tenures, known }: Acquiring,
  { units, running, lose }: Now,
) {
  const oneAtATime = createQueue();
  const ask = async (unit: string): Promise<Acquired | undefined> => {
    try {
      return await leases.acquire(unit, leaseMs, known.epochOf(unit));
    } catch (error) {
      if (!(error instanceof UnfinishedCopyError)) throw error;
      observe.heldBack(unit, error);
      return undefined;
    }
  };
  const acquire = async (unit: string): Promise<void> => {
    const { signal } = running();
    if (signal.aborted || !units().includes(unit)) return;
    const sentTicks = clock.ticks();
    const acquired = await reach(() => ask(unit));
    if (acquired?.isOurs !== true) return;
    const { lease } = acquired;
    if (signal.aborted) {
      await reach(() => leases.release(unit, lease.epoch));
      return;
    }
    const gained = { unit, lease, lostCommits: known.take(lease) };
    tenures.begin(unit, lease, sentTicks);
    observe.gained(gained);
    try {
      begin(gained);
    } catch (error) {
      observe.heldBack(unit, error);
      lose(unit, 'left', undefined, restMs);
    }
  };
  return (unit: string): Promise<void> => oneAtATime(() => acquire(unit));
}

/** The name of this replica, and the highest known epoch and commit count of each unit. */
function createKnown() {
  const commits = new Map<string, number>();
  const epochs = new Map<string, number>();
  let owner: string | undefined;
  const epochOf = (unit: string): number => epochs.get(unit) ?? 0;
  const seeEpoch = ({ unit, epoch }: Lease): void => void epochs.set(unit, Math.max(epoch, epochOf(unit)));
  return {
    epochOf,
    owner: () => owner,
    commits: (): ReadonlyMap<string, number> => new Map(commits),
    see: (lease: Lease): void => {
      seeEpoch(lease);
      commits.set(lease.unit, Math.max(lease.commits, commits.get(lease.unit) ?? 0));
    },
    add: (unit: string): void => void commits.set(unit, (commits.get(unit) ?? 0) + 1),
    /** The database's number of commits becomes the known number. Returns the number of lost commits. */
    take: (lease: Lease): number => {
      const lost = countLost(lease, commits.get(lease.unit));
      commits.set(lease.unit, lease.commits);
      seeEpoch(lease);
      ({ owner } = lease);
      return lost;
    },
  };
}
