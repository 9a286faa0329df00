import type { Lease, Leases, Replica, SharedState } from '../../../src/state/shared-state.ts';
import { FencedError, UnansweredError } from '../../../src/state/shared-state.ts';
import type { State } from '../../../src/state/state.ts';
import { StateError } from '../../../src/state/state.ts';
import type { Dice } from '../dice.ts';
import { copyDisk, createDisk, type Disk, openMemoryState } from '../memory-state.ts';
import type { VirtualTime } from '../virtual-time.ts';

type KeptLease = Pick<Lease, 'owner' | 'address' | 'epoch'> & { expiresMs: number };
type Unit = { lease: KeptLease | undefined; lastEpoch: number; commits: number; readonly disk: Disk };

/** A database that several daemons share, with its own clock. It keeps confirmed changes, unless a card drops the newest. */
export type Engine = {
  /** Connects one process to the state; the connection can be cut. */
  readonly connect: (replica: Replica, link: Link) => SharedState;
  readonly unit: (name: string) => Unit;
  /** If true, the database does not respond. */
  isAway: boolean;
  readonly copy: () => void;
  /** Restores the stored copy, as after a failover to an old standby. */
  readonly loseTail: () => void;
  /** The difference between the clock of the database and true time. */
  skewMs: number;
  onAcquired: (() => void) | undefined;
};

/** The connection of one process to the database. */
export type Link = {
  isCut: boolean;
  onWrite: (() => void) | undefined;
  /** Called after a commit and before its response. */
  onCommitted: (() => void) | undefined;
  /** The wall clock of the process, which the database must not use. */
  readonly wallMs: () => number;
  /** Waits while the process is stopped. */
  readonly pass: () => Promise<void>;
};

const timeoutMs = 5000;

export function createEngine(time: VirtualTime, dice: Dice): Engine {
  let units = new Map<string, Unit>();
  let copied = new Map<string, Unit>();
  const nowMs = (): number => time.nowMs() + engine.skewMs;

  function unit(name: string): Unit {
    let found = units.get(name);
    if (found === undefined) {
      found = { lease: undefined, lastEpoch: 0, commits: 0, disk: createDisk() };
      units.set(name, found);
    }
    return found;
  }

  const wait = (ms: number): Promise<void> => new Promise((resolve) => void time.after(ms, resolve));

  /** Sends a request and waits for its response; the database works at one moment in between. */
  async function ask<Answer>(link: Link, work: () => Answer, isWrite: boolean): Promise<Answer> {
    const isLost = (): boolean => link.isCut || engine.isAway;
    await wait(0.2 + dice.next() * dice.next() * 20);
    if (isLost()) {
      await wait(dice.chance(0.5) ? 1 : timeoutMs);
      await link.pass();
      throw new StateError('the database does not answer');
    }
    const outcome = attempt(work);
    await wait(0.2 + dice.next() * 5);
    if (isLost()) {
      await wait(timeoutMs);
      await link.pass();
      const message = 'the database has not answered';
      throw isWrite ? new UnansweredError(message) : new StateError(message);
    }
    await link.pass();
    return outcome();
  }

  function toLease(name: string, { lease, commits }: Unit): Lease[] {
    if (lease === undefined) return [];
    const { owner, address, epoch, expiresMs } = lease;
    return [{ unit: name, owner, address, epoch, commits, remainingMs: expiresMs - nowMs() }];
  }

  function createLeases({ owner, address }: Replica, link: Link): Leases {
    return {
      configure: () => undefined,
      acquire: (name, ttlMs, knownEpoch = 0) =>
        ask(
          link,
          () => {
            const found = unit(name);
            const isFree = found.lease === undefined || found.lease.expiresMs <= nowMs() || found.lease.owner === owner;
            if (isFree) {
              found.lastEpoch = 1 + Math.max(found.lastEpoch, knownEpoch);
              found.lease = { owner, address, epoch: found.lastEpoch, expiresMs: nowMs() + ttlMs };
              engine.onAcquired?.();
            }
            const [lease] = toLease(name, found);
            if (lease === undefined) throw new Error('a lease is there once it was acquired');
            return { isOurs: isFree, lease };
          },
          false,
        ),
      renew: (name, epoch, ttlMs) =>
        ask(
          link,
          () => {
            const { lease } = unit(name);
            if (lease?.owner !== owner || lease.epoch !== epoch) return false;
            lease.expiresMs = nowMs() + ttlMs;
            return true;
          },
          false,
        ),
      release: (name, epoch) =>
        ask(
          link,
          () => {
            const { lease } = unit(name);
            if (lease?.owner === owner && lease.epoch === epoch) lease.expiresMs = nowMs() - 1;
          },
          false,
        ),
      list: () => ask(link, () => [...units].flatMap(([name, found]) => toLease(name, found)), false),
    };
  }

  function own(
    name: string,
    lease: Pick<Lease, 'epoch' | 'commits'>,
    { owner, link }: Replica & { link: Link },
  ): State {
    let expected = lease.commits;
    let last: Promise<unknown> = Promise.resolve();
    function fence(): void {
      const found = unit(name);
      if (found.lease?.owner !== owner || found.lease.epoch !== lease.epoch)
        throw new FencedError('another epoch owns the unit', 'taken');
      if (found.commits !== expected) throw new FencedError('the database has lost commits', 'behind');
    }
    /** A state without a cache: each request reads the database. */
    const now = (): State => openMemoryState(unit(name).disk, { wait: () => Promise.resolve() });
    const read = <Answer>(work: (state: State) => Promise<Answer>): Promise<Answer> =>
      ask(link, () => work(now()), false).then((answer) => answer);
    function write<Answer>(work: (state: State) => Promise<Answer>): Promise<Answer> {
      const mine = last.then(async () => {
        link.onWrite?.();
        const answer = await ask(
          link,
          () => {
            fence();
            const done = work(now());
            unit(name).commits += 1;
            link.onCommitted?.();
            return { done };
          },
          true,
        );
        expected += 1;
        return answer.done;
      });
      last = mine.catch(() => undefined);
      return mine;
    }
    return {
      origin: { kind: 'usual' },
      ledger: {
        load: (...asked) => read(({ ledger }) => ledger.load(...asked)),
        find: (...asked) => read(({ ledger }) => ledger.find(...asked)),
        countEnds: (...asked) => read(({ ledger }) => ledger.countEnds(...asked)),
        firstEnd: (...asked) => read(({ ledger }) => ledger.firstEnd(...asked)),
        size: (...asked) => read(({ ledger }) => ledger.size(...asked)),
        commit: (...asked) => write(({ ledger }) => ledger.commit(...asked)),
      },
      spool: {
        next: (...asked) => read(({ spool }) => spool.next(...asked)),
        quarantined: () => read(({ spool }) => spool.quarantined()),
        size: () => read(({ spool }) => spool.size()),
        sizeOfLogs: () => read(({ spool }) => spool.sizeOfLogs()),
        hasRoom: (...asked) => read(({ spool }) => spool.hasRoom(...asked)),
        remove: (...asked) => write(({ spool }) => spool.remove(...asked)),
        quarantine: (...asked) => write(({ spool }) => spool.quarantine(...asked)),
        retry: (...asked) => write(({ spool }) => spool.retry(...asked)),
        drop: (...asked) => write(({ spool }) => spool.drop(...asked)),
      },
      recall: (key) => read((state) => state.recall(key)),
      remember: (...asked) => write((state) => state.remember(...asked)),
      backUp: async () => undefined,
      bytes: () => 0,
      close: async () => undefined,
    };
  }

  const engine: Engine = {
    isAway: false,
    skewMs: 0,
    onAcquired: undefined,
    unit,
    connect: (replica, link) => ({
      leases: createLeases(replica, link),
      owned: (name, lease) => own(name, lease, { ...replica, link }),
      close: async () => undefined,
    }),
    copy: () => {
      copied = copyUnits(units);
    },
    loseTail: () => {
      units = copyUnits(copied);
    },
  };
  return engine;
}

function copyUnits(units: ReadonlyMap<string, Unit>): Map<string, Unit> {
  return new Map(
    [...units].map(([name, { disk, lease, ...rest }]) => [
      name,
      { ...rest, lease: lease && { ...lease }, disk: copyDisk(disk) },
    ]),
  );
}

/** Does some work now; returns its result or error later. */
function attempt<Answer>(work: () => Answer): () => Answer {
  try {
    const answer = work();
    return () => answer;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
