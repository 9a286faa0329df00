import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReplica } from '../../src/daemon/replica.ts';
import { createTraces, type Delivery } from '../../src/daemon/trace-pipeline.ts';
import { systemClock } from '../../src/domain/system-clock.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import type { Lease, SharedState } from '../../src/state/shared-state.ts';
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
    owned: () => openMemoryState(createDisk(), { wait: async () => undefined }),
    close: async () => undefined,
  };
}

describe('daemon/replica', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('delivers at once what the previous owner of a server left in its spool', async () => {
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
      keptPlans: { goOver: () => undefined },
      ownUrl: 'http://127.0.0.1:1',
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
});
