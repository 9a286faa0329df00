import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Client, ClientScope } from '../../src/api/client.ts';
import { defineEndpoint } from '../../src/api/endpoint.ts';
import type { Memory } from '../../src/domain/memory.ts';
import { gauge } from '../../src/metrics/family.ts';
import { defineCollector } from '../../src/schedule/collector.ts';
import { createServerReading } from '../../src/schedule/collector-reading.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { createTestWatch } from '../support/watch.ts';

const endpoint = defineEndpoint({ name: 'demo', path: 'demo', since: 14, allowedBy: [], body: z.number() });

function setUp({ vital = false, everyMs = 15_000, remember = (before: Memory): Memory => before } = {}) {
  const clock = fakeClock({ now: () => 0, ticks: () => 0 });
  const scopes: Omit<ClientScope, 'signal'>[] = [];
  const kept: Memory[] = [];
  const collector = defineCollector({
    name: 'demo',
    help: 'Demo',
    every: '15s',
    on: true,
    vital,
    reads: [endpoint],
    metrics: { value: gauge('demo_value', 'Value.') },
    fetch: async () => 7,
    remember: (_value, before) => remember(before),
    map: (value, { value: family }) => family.rows(value),
  });
  const state = openSqliteState({ memory: true });
  const reading = createServerReading({
    key: { server: 'prod', collector: 'demo' },
    collector,
    everyMs,
    timeoutMs: 10_000,
    requestsPerSecond: 10,
    client: {
      within: ({ signal: _signal, ...scope }) => {
        scopes.push(scope);
        // This cast is safe: the collector sends no request.
        return {} as ReturnType<Client['within']>;
      },
      facts: () => ({ dialect: undefined, apiVersion: undefined, release: undefined, hidesMembers: false }),
    },
    ...createTestWatch(clock),
    state: {
      ...state,
      remember: async (_owner, memory) => {
        kept.push(memory);
      },
    },
    publisher: { publish: async (rows) => rows.length, omits: () => false, withdraw: () => undefined },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    clock,
  });
  return { scopes, kept, read: () => reading.read(new AbortController().signal) };
}

describe('schedule/server-reading', () => {
  it.each([
    { everyMs: 15_000, wholeMs: 30_000 },
    { everyMs: 60_000, wholeMs: 60_000 },
  ])('limits a poll with the interval $everyMs ms to the right time', async ({ everyMs, wholeMs }) => {
    const { scopes, read } = setUp({ everyMs });
    expect(await read()).toEqual({ result: 'success', series: 1, complaints: [] });
    expect(scopes).toEqual([{ lane: 'normal', forMs: 10_000, wholeMs }]);
  });

  it('sends vital requests before all others', async () => {
    const { scopes, read } = setUp({ vital: true });
    await read();
    expect(scopes.map(({ lane }) => lane)).toEqual(['vital']);
  });

  it('stores values only when they change', async () => {
    const same = setUp();
    await same.read();
    await same.read();
    expect(same.kept).toEqual([]);

    const { kept, read } = setUp({ remember: ({ polls }) => ({ polls: Number(polls ?? 0) + 1 }) });
    await read();
    await read();
    expect(kept).toEqual([{ polls: 1 }, { polls: 2 }]);
  });
});
