import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createApp } from '../../src/daemon/daemon.ts';
import type { ToTraces } from '../../src/daemon/generation.ts';
import { createReplica } from '../../src/daemon/replica.ts';
import { createTraces, type Delivery } from '../../src/daemon/trace-pipeline.ts';
import { sentSumsOwner } from '../../src/domain/memory.ts';
import { systemClock } from '../../src/domain/system-clock.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import type { Lease, SharedState } from '../../src/state/shared-state.ts';
import { type PushSettings, readPushSettings } from '../../src/tracing/deliver/push-settings.ts';
import { type PendingTrace, toPendingDocument } from '../../src/tracing/enrich/pending.ts';
import { load } from '../config/fixtures.ts';
import { someRun } from '../executions/some-execution.ts';
import { listen } from '../support/listen.ts';
import { createDisk, openMemoryState } from '../world/memory-state.ts';

const waiting: PendingTrace = {
  ...someRun({ endedAtMs: Number.MAX_SAFE_INTEGER }),
  project: 'pay',
  seenAtMs: Number.MAX_SAFE_INTEGER,
  epoch: 1,
};

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A database in which every server is free until it is acquired. */
function createShared() {
  const disk = createDisk();
  const held = new Map<string, Lease>();
  const addresses: string[] = [];
  const lease = (unit: string): Lease => ({
    unit,
    owner: 'own',
    address: '',
    epoch: 1,
    remainingMs: 10_000,
    commits: 0,
  });
  let isTaken = false;
  const shared: SharedState = {
    leases: {
      acquire: async (unit) => {
        if (isTaken) return { isOurs: false, lease: lease(unit) };
        held.set(unit, lease(unit));
        return { isOurs: true, lease: lease(unit) };
      },
      renew: async () => !isTaken,
      release: async (unit) => void held.delete(unit),
      list: async () => [...held.values()],
      configure: (_digest, address) => void addresses.push(address),
    },
    owned: () => openMemoryState(disk, { wait: async () => undefined }),
    close: async () => undefined,
  };
  const take = (): void => {
    isTaken = true;
  };
  /** Simulates a database that lost commits of an earlier owner. */
  const loseCommits = (): void => {
    held.set('prod', { ...lease('prod'), owner: 'other', remainingMs: -1, commits: 5 });
  };
  return { ...shared, disk, take, loseCommits, addresses };
}

const loadServer = async (name: string) =>
  (
    await load({
      yaml: `servers: [{ name: ${name}, url: 'http://127.0.0.1:9', token_file: /token }]`,
      files: { '/token': 'a-token' },
      argv: ['--web.listen-address=127.0.0.1:0'],
    })
  ).config;

describe('daemon/replica', () => {
  let stop: () => Promise<void>;
  let suspendedMs = 0;
  beforeEach(() => void vi.useFakeTimers());
  afterEach(async () => {
    const stopped = stop();
    await vi.advanceTimersByTimeAsync(5000);
    await stopped;
    vi.useRealTimers();
    suspendedMs = 0;
  });

  /** Starts a replica that owns its only server, and records the delivery of traces. */
  async function start(prepare: (shared: ReturnType<typeof createShared>) => unknown = () => undefined) {
    const config = await loadServer('prod');
    const told: unknown[] = [];
    const delivery = {
      start: () => told.push('start'),
      wake: () => told.push('wake'),
      stop: async () => void told.push('stop'),
    } as unknown as Delivery;
    const self = createSelf({ version: 'test', nodeVersion: 'test' });
    const clock = { ...systemClock, ticks: () => systemClock.ticks() + suspendedMs };
    const common = { log, clock, self, version: 'test' };
    const otlp = {} as Parameters<typeof createTraces>[0]['otlp'];
    const shared = createShared();
    const open = openMemoryState(shared.disk, { wait: async () => undefined });
    await open.ledger.commit('prod', { documents: [toPendingDocument(waiting)] });
    await prepare(shared);
    let pending = (): number => 0;
    const toTraces: ToTraces = (given, state) =>
      createTraces({
        ...common,
        config: given,
        otlp,
        state,
        toDelivery: (_options, count) => {
          pending = count;
          return delivery;
        },
      });
    const replica = createReplica({
      ...common,
      config,
      snapshots: createSnapshots(systemClock),
      shared,
      onSecret: () => undefined,
      keptPlans: { reload: (before, after) => told.push(before, after) },
      ownUrl: 'http://127.0.0.1:1',
      toTraces,
      toPollTimes: () => ({ start: () => undefined, stop: async () => undefined, nextRunsAtMs: () => [] }),
    });
    replica.start();
    await vi.advanceTimersByTimeAsync(1000);
    stop = replica.stop;
    return { replica, shared, told, config, toTraces, self, pending: () => pending() };
  }

  it('delivers the traces of the previous owner immediately', async () => {
    const { replica, told } = await start();
    expect([...replica.toOwned()]).toEqual(['prod']);
    expect(told).toEqual(['start', 'wake']);
  });

  it('stores that the database lost commits of a server', async () => {
    const sums = { server: 'prod', collector: sentSumsOwner };
    const { shared } = await start(async ({ disk, loseCommits }) => {
      await openMemoryState(disk, { wait: async () => undefined }).remember(sums, {
        firstMs: 1,
        sums: '[["key",[1,2],3]]',
      });
      loseCommits();
    });
    const { ledger, recall } = openMemoryState(shared.disk, { wait: async () => undefined });
    const marks = (await ledger.load('prod')).flatMap(({ kind, key }) => (kind === 'restored' ? [key] : []));
    expect(marks).toEqual(['executions', 'changes']);
    const { firstMs, ...left } = (await recall(sums)) ?? {};
    expect([left, Date.now() - Number(firstMs) < 60_000]).toEqual([{ sums: '[]' }, true]);
  });

  it('shows no server after the process was suspended for longer than a lease', async () => {
    const { replica } = await start();
    suspendedMs = 20_000;
    expect([...replica.toOwned()]).toEqual([]);
  });

  it('watches the servers of a new configuration', async () => {
    const { replica, shared, told, config, toTraces, self } = await start();
    const { web, ...loaded } = await loadServer('other');
    const next = { ...loaded, web: { ...web, externalUrl: 'https://exporter.example.org' } };
    const over = replica.reload(next, toTraces);
    await vi.advanceTimersByTimeAsync(5000);
    await over;
    expect(shared.addresses).toEqual(['http://127.0.0.1:1', 'https://exporter.example.org']);
    expect([...replica.toOwned()]).toEqual(['other']);
    expect((await shared.leases.list()).map(({ unit }) => unit)).toEqual(['other']);
    expect(replica.watching()).toMatchObject({ config: next });
    expect([...replica.watching().watched.keys()]).toEqual(['other']);
    // Otherwise the alert about a missing owner would fire for a removed server.
    const shown = (await self.leaseOwned.get()).values.map(({ labels, value }) => `${labels.server} ${value}`);
    expect(shown).toEqual(['other 1']);
    // The delivery starts again with the new servers.
    expect(told.slice(2)).toEqual(['stop', config, next, 'start', 'wake']);
  });

  it('keeps the budget, the circuit and the session of an address across a reload', async () => {
    const { replica, config, toTraces } = await start();
    const read = () => replica.watching().watched.get('prod')?.toHandover().addresses[0]?.memory;
    const known = read();
    await Promise.all([replica.reload(config, toTraces), vi.advanceTimersByTimeAsync(5000)]);
    expect(known?.budget).toBeDefined();
    expect(read()).toBe(known);
  });

  it('removes the pending executions of a lost server from its count', async () => {
    const { replica, shared, pending } = await start();
    expect(pending()).toBe(1);
    shared.take();
    await vi.advanceTimersByTimeAsync(5000);
    expect([...replica.toOwned()]).toEqual([]);
    expect(pending()).toBe(0);
  });

  it('publishes nothing about a server of another replica', async () => {
    const { shared, self } = await start();
    shared.take();
    await vi.advanceTimersByTimeAsync(5000);
    const lines = (await self.registry.metrics()).split('\n').filter((line) => line.includes('server="prod"'));
    expect(lines.toSorted()).toEqual([
      'automation_exporter_lease_owned{server="prod"} 0',
      'automation_exporter_lease_takeovers_total{server="prod"} 1',
    ]);
  });

  it('keeps its servers if a reload fails', async () => {
    const { replica, told } = await start();
    const over = replica.reload(await loadServer('other'), () => {
      throw new Error('no memory');
    });
    await Promise.all([expect(over).rejects.toThrow('no memory'), vi.advanceTimersByTimeAsync(5000)]);
    expect([...replica.toOwned()]).toEqual(['prod']);
    expect([...replica.watching().watched.keys()]).toEqual(['prod']);
    expect(told).toEqual(['start', 'wake']);
  });
});

describe('daemon, as one of several replicas', () => {
  it('ends its last push before it releases its servers', async () => {
    const happened: string[] = [];
    const shared = createShared();
    const { leases } = shared;
    const release: typeof leases.release = async (unit, epoch) => {
      happened.push(`release ${unit}`);
      await leases.release(unit, epoch);
    };
    const pushed = Promise.withResolvers<void>();
    const receiver = createServer(() => pushed.resolve());
    const port = await listen(receiver);
    onTestFinished(() => void receiver.close());
    const push = readPushSettings({
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    });
    const app = createApp({
      config: await loadServer('prod'),
      log: { ...log, warn: (_fields, message) => void happened.push(message) },
      version: 'test',
      onSecret: () => undefined,
      // This cast is safe: these variables are complete.
      push: push as PushSettings,
      openShared: async () => ({ ...shared, leases: { ...leases, release } }),
    });
    await app.start();
    await pushed.promise;
    await app.stop(() => undefined);
    expect(happened.slice(-2)).toEqual(['metrics push failing', 'release prod']);
  });
});
