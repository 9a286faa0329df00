import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReplica } from '../../src/daemon/replica.ts';
import { createTraces, type Delivery } from '../../src/daemon/trace-pipeline.ts';
import { gauge } from '../../src/metrics/family.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import type { Lease, SharedState } from '../../src/state/shared-state.ts';
import { StateError } from '../../src/state/state.ts';
import { systemClock } from '../../src/system-clock.ts';
import { load } from '../config/fixtures.ts';
import { createDisk, openMemoryState } from '../world/memory-state.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A database in which every server is free until it is acquired. */
function createShared(): SharedState {
  const held = new Map<string, Lease>();
  const lease = (unit: string): Lease => ({
    unit,
    owner: 'own',
    address: '',
    epoch: 1,
    remainingMs: 10_000,
    commits: 0,
  });
  return {
    leases: {
      acquire: async (unit) => {
        held.set(unit, lease(unit));
        return { isOurs: true, lease: lease(unit) };
      },
      renew: async () => true,
      release: async (unit) => void held.delete(unit),
      list: async () => [...held.values()],
      configure: () => undefined,
    },
    segments: { write: async () => undefined, read: async () => [] },
    owned: () => openMemoryState(createDisk(), { wait: async () => undefined }),
    close: async () => undefined,
  };
}

describe('daemon/replica', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('delivers at once what the last owner of a server has left in its spool', async () => {
    const { config } = await load({
      yaml: "servers: [{ name: prod, url: 'http://127.0.0.1:9', token_file: /token }]",
      files: { '/token': 'a-token' },
    });
    const woken: string[] = [];
    const delivery = {
      start: () => woken.push('start'),
      wake: () => woken.push('wake'),
      stop: async () => undefined,
    } as unknown as Delivery;
    const self = createSelf({ version: 'test', nodeVersion: 'test' });
    const common = { log, clock: systemClock, self, version: 'test' };
    const otlp = {} as Parameters<typeof createTraces>[0]['otlp'];
    const replica = createReplica({
      ...common,
      config,
      snapshots: createSnapshots(systemClock),
      shared: createShared(),
      onSecret: () => undefined,
      toTraces: (given, state) => createTraces({ ...common, config: given, otlp, state, toDelivery: () => delivery }),
      toPollTimes: () => ({ start: () => undefined, stop: async () => undefined, nextRunsAtMs: () => [] }),
    });
    replica.start();
    expect(woken).toEqual(['start']);
    await vi.advanceTimersByTimeAsync(1000);
    expect([...replica.toOwned()]).toEqual(['prod']);
    expect(woken).toEqual(['start', 'wake']);
    const stopped = replica.stop();
    await vi.advanceTimersByTimeAsync(5000);
    await stopped;
  });

  it('asks a server nothing more once its lease is lost, although the database does not answer a write of the view', async () => {
    const { config } = await load({
      yaml: "state: { postgres: { host: db, view_all: true } }\nservers: [{ name: prod, url: 'http://127.0.0.1:9', token_file: /token }]",
      files: { '/token': 'a-token' },
    });
    const said: string[] = [];
    const shared = createShared();
    const answered = Promise.withResolvers<undefined>();
    const snapshots = createSnapshots(systemClock);
    const replica = createReplica({
      log,
      clock: systemClock,
      self: createSelf({ version: 'test', nodeVersion: 'test' }),
      config,
      snapshots,
      shared: {
        ...shared,
        leases: { ...shared.leases, renew: async () => !said.includes('write') },
        segments: {
          ...shared.segments,
          write: async () => {
            said.push('write');
            await answered.promise;
          },
        },
      },
      onSecret: () => undefined,
      toTraces: () => undefined,
      toPollTimes: () => ({
        start: () => undefined,
        stop: async () => void said.push('polls end'),
        nextRunsAtMs: () => [],
      }),
    });
    replica.start();
    await vi.advanceTimersByTimeAsync(1000);
    const published = snapshots.publish({
      source: 'x',
      server: 'prod',
      collector: 'health',
      baseLabels: [['server', 'prod']],
      rows: gauge('automation_up', 'Up.').rows(1),
      validForMs: 600_000,
    });
    await vi.waitFor(() => expect(said).toEqual(['write']), { timeout: 10_000 });
    await published;
    await vi.advanceTimersByTimeAsync(4000);
    expect(said).toEqual(['write', 'polls end']);
    answered.resolve(undefined);
    const stopped = replica.stop();
    await vi.advanceTimersByTimeAsync(5000);
    await stopped;
  });

  it('writes for view=all as soon as the database is back, although nothing has changed', async () => {
    const { config } = await load({
      yaml: "state: { postgres: { host: db, view_all: true } }\nservers: [{ name: prod, url: 'http://127.0.0.1:9', token_file: /token }]",
      files: { '/token': 'a-token' },
    });
    const shared = createShared();
    const snapshots = createSnapshots(systemClock);
    let writes = 0;
    let isAway = false;
    const replica = createReplica({
      log,
      clock: systemClock,
      self: createSelf({ version: 'test', nodeVersion: 'test' }),
      config,
      snapshots,
      shared: {
        ...shared,
        leases: {
          ...shared.leases,
          list: async () => {
            if (isAway) throw new StateError('the database is away');
            return shared.leases.list();
          },
        },
        segments: {
          ...shared.segments,
          write: async () => {
            writes += 1;
          },
        },
      },
      onSecret: () => undefined,
      toTraces: () => undefined,
      toPollTimes: () => ({ start: () => undefined, stop: async () => undefined, nextRunsAtMs: () => [] }),
    });
    replica.start();
    await vi.advanceTimersByTimeAsync(1000);
    void snapshots.publish({
      source: 'x',
      server: 'prod',
      collector: 'health',
      baseLabels: [['server', 'prod']],
      rows: gauge('automation_up', 'Up.').rows(1),
      validForMs: 600_000,
    });
    await vi.waitFor(() => expect(writes).toBe(1), { timeout: 60_000 });
    isAway = true;
    await vi.advanceTimersByTimeAsync(1000);
    expect(writes).toBe(1);
    isAway = false;
    await vi.advanceTimersByTimeAsync(2000);
    expect(writes).toBe(2);
    const stopped = replica.stop();
    await vi.advanceTimersByTimeAsync(5000);
    await stopped;
  }, 120_000);

  it('counts and logs that the series of a server could not be written for view=all', async () => {
    const { config } = await load({
      yaml: "state: { postgres: { host: db, view_all: true } }\nservers: [{ name: prod, url: 'http://127.0.0.1:9', token_file: /token }]",
      files: { '/token': 'a-token' },
    });
    const said: string[] = [];
    const say = (_fields: object, text: string): void => void said.push(text);
    const shared = createShared();
    const snapshots = createSnapshots(systemClock);
    const self = createSelf({ version: 'test', nodeVersion: 'test' });
    const replica = createReplica({
      log: { ...log, info: say, error: say },
      clock: systemClock,
      self,
      config,
      snapshots,
      shared: {
        ...shared,
        segments: {
          ...shared.segments,
          write: async () => {
            throw new StateError('the state cannot be written: no space left on device');
          },
        },
      },
      onSecret: () => undefined,
      toTraces: () => undefined,
      toPollTimes: () => ({ start: () => undefined, stop: async () => undefined, nextRunsAtMs: () => [] }),
    });
    replica.start();
    await vi.advanceTimersByTimeAsync(1000);
    void snapshots.publish({
      source: 'x',
      server: 'prod',
      collector: 'health',
      baseLabels: [['server', 'prod']],
      rows: gauge('automation_up', 'Up.').rows(1),
      validForMs: 600_000,
    });
    await vi.waitFor(
      () => expect(said).toEqual(['server acquired', 'series for view=all not written: will be retried']),
      {
        timeout: 60_000,
      },
    );
    expect(await self.registry.getSingleMetricAsString('automation_exporter_view_write_failures_total')).toContain(
      '{server="prod",reason="database"} 1',
    );
    const stopped = replica.stop();
    await vi.advanceTimersByTimeAsync(5000);
    await stopped;
  }, 120_000);
});
