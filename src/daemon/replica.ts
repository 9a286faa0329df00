import type { Config } from '../config/config.ts';
import { forgetSeries } from '../metrics/exposition.ts';
import type { Snapshots } from '../metrics/snapshot.ts';
import { createOwnedStates, markBehind, type OwnedStates, observeWrites } from '../ownership/owned-states.ts';
import { createOwnership, type Gained, type LossReason, type Ownership } from '../ownership/ownership.ts';
import type { PollStatus } from '../schedule/scheduler.ts';
import type { SharedState } from '../state/shared-state.ts';
import type { LeaseStatus } from '../status/status.ts';
import { toWatcher } from '../status/watcher.ts';
import {
  listAddresses,
  recallAddresses,
  startGeneration,
  stopGeneration,
  type Watch,
  type Watching,
  type WatchParts,
  watchAll,
} from './generation.ts';
import { createLeaseNotes, listUnits } from './instruments.ts';
import type { Address } from './server-targets.ts';
import type { Traces } from './trace-pipeline.ts';

type ReplicaOptions = WatchParts & { readonly shared: SharedState; readonly owner?: string; readonly ownUrl: string };

export type Replica = Omit<Watch, 'toOwned'> & {
  readonly ownership: Ownership;
  readonly toOwned: () => ReadonlySet<string>;
};

export function createReplica(options: ReplicaOptions): Replica {
  const { shared, clock, self } = options;
  let { config } = options;
  let lastWrites: Promise<unknown> | undefined;
  const owned = createOwnedStates();
  let traces = options.toTraces(config, owned.state);
  const configure = (digest: string): void => shared.leases.configure(digest, config.web.externalUrl ?? options.ownUrl);
  const notes = createLeaseNotes({ ...options, configure }, () => config);
  const units = createUnits({
    ...options,
    owned,
    config: () => config,
    traces: () => traces,
    note: {
      commit: (unit, seconds) => {
        ownership.noteCommit(unit);
        self.stateCommitDuration.observe(seconds);
      },
      fault: (...fault) => ownership.noteFault(...fault),
    },
  });
  const leaseOf = (server: string) => readLease(ownership, { server, owner: options.owner }, clock.ticks());
  const ownership = createOwnership({
    units: listUnits(config),
    leases: shared.leases,
    clock,
    begin: units.begin,
    end: async (unit) => {
      await lastWrites;
      await units.end(unit);
      notes.unowned(unit);
      traces?.forget(unit);
    },
    observe: notes.observe,
  });
  return {
    ownership,
    state: { ...owned.state, close: shared.close },
    watching: () => joinWatching(config, units.all(), traces),
    start: () => {
      notes.all();
      traces?.start();
      ownership.start();
    },
    stop: async (pushed) => {
      // Deliveries end first, because only an owner can record them.
      lastWrites = Promise.all([traces?.stop(), pushed]);
      await ownership.stop();
      await Promise.all([traces?.stop(), lastWrites]);
    },
    reload: async (next, toTraces) => {
      // The next trace pipelines are created first, so that the current configuration stays after an error.
      const nextTraces = toTraces(next, owned.state);
      await ownership.reload(listUnits(next), async () => {
        await traces?.stop();
        options.keptPlans.reload(config, next);
        config = next;
        notes.all();
        traces = nextTraces;
        traces?.start();
      });
    },
    toOwned: () => {
      ownership.check();
      return new Set(ownership.owned().keys());
    },
    epochOf: (server) => ownership.owned().get(server),
    differing: notes.differing,
    away: () => {
      ownership.check();
      return notes.away();
    },
    leaseOf,
    watcherOf: (server) => toWatcher(leaseOf(server), { externalUrl: config.web.externalUrl, url: options.ownUrl }),
  };
}

type OfServer = { readonly server: string; readonly owner: string | undefined };

function readLease(
  { leases, owned }: Ownership,
  { server, owner }: OfServer,
  nowTicks: number,
): LeaseStatus | undefined {
  const listed = leases();
  const lease = listed?.leases.find(({ unit }) => unit === server);
  if (listed === undefined || lease === undefined) return undefined;
  const isOurs = owned().has(server);
  const remainingMs = Math.round(lease.remainingMs - (nowTicks - listed.readTicks));
  // If this replica has given up the server, nobody watches it, although the lease has not expired.
  const expiresInMs = lease.owner === owner && !isOurs ? Math.min(0, remainingMs) : remainingMs;
  return { isOwned: isOurs, owner: lease.address, epoch: lease.epoch, expiresInMs };
}

type UnitsOptions = Omit<ReplicaOptions, 'config' | 'toTraces'> & {
  readonly owned: OwnedStates;
  readonly config: () => Config;
  readonly traces: () => Traces | undefined;
  readonly note: {
    readonly commit: (unit: string, seconds: number) => void;
    readonly fault: (unit: string, epoch: number, reason: LossReason) => void;
  };
};

function createUnits(options: UnitsOptions) {
  const { shared, clock, log, self, snapshots, owned, note } = options;
  const watched = new Map<string, Unit>();
  /** The addresses of ended units. A reload ends all units, and the next units take over the state of their addresses. */
  const left: Address[] = [];
  const memoryOf = recallAddresses(left);
  const onFault = (error: unknown): void => log.error({ error }, 'work for a server did not end cleanly');
  return {
    all: () => [...watched.values()],
    begin: ({ unit, lease, lostCommits }: Gained): void => {
      const config = options.config();
      const observe = {
        committed: (seconds: number) => note.commit(unit, seconds),
        fault: (reason: LossReason) => note.fault(unit, lease.epoch, reason),
      };
      const own = observeWrites(shared.owned(unit, lease), observe, clock.ticks);
      owned.put(unit, lostCommits > 0 ? markBehind(own, unit, clock.now()) : own);
      const gate = createGate(snapshots);
      const origin = lostCommits > 0 ? ({ kind: 'behind', lostCommits } as const) : owned.state.origin;
      const state = { ...owned.state, origin };
      const only = { ...config, servers: config.servers.filter(({ name }) => name === unit) };
      const parts = { ...options, config: only, state, traces: options.traces(), snapshots: gate.snapshots, memoryOf };
      const watching = watchAll(parts, undefined, options.toPollTimes);
      watched.set(unit, { watching, shut: gate.shut });
      // All servers share the delivery of traces, which continues.
      startGeneration({ ...watching, traces: undefined });
      // The previous owner may have left traces in the spool.
      options.traces()?.wake();
    },
    /** Hides a unit immediately. Resolves when all work of the unit has ended. */
    end: async (unit: string): Promise<void> => {
      owned.remove(unit);
      const ending = watched.get(unit);
      if (ending === undefined) return;
      watched.delete(unit);
      const { watching, shut } = ending;
      left.push(...listAddresses(watching));
      shut();
      for (const { key } of watching.scheduler.status()) watching.watched.get(unit)?.withdraw(key);
      await stopGeneration({ ...watching, traces: undefined }, onFault);
      await forgetSeries(self.registry, ({ server }, name) => server === unit && !ofProcess.has(name));
    },
  };
}

/** Counters of this process. The counters stay when the owner of a server changes. */
const ofProcess = new Set(['automation_exporter_lease_takeovers_total']);

type Unit = { readonly watching: Watching; readonly shut: () => void };

function createGate(snapshots: Snapshots): { readonly snapshots: Snapshots; readonly shut: () => void } {
  let isOpen = true;
  return {
    snapshots: {
      ...snapshots,
      publish: async (snapshot) => {
        if (isOpen) await snapshots.publish(snapshot);
      },
    },
    shut: () => {
      isOpen = false;
    },
  };
}

function joinWatching(config: Config, all: readonly Unit[], traces: Traces | undefined): Watching {
  const status = (): PollStatus[] => all.flatMap(({ watching }) => watching.scheduler.status());
  return {
    config,
    watched: new Map(all.flatMap(({ watching }) => [...watching.watched])),
    scheduler: { start: () => undefined, stop: async () => undefined, status },
    traces,
  };
}
