import { expect, it } from 'vitest';
import type { Client } from '../../src/api/client.ts';
import { createTraces, type Delivery, type TracesOptions } from '../../src/daemon/trace-pipeline.ts';
import { createTracePort } from '../../src/executions/trace-port.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { readPending } from '../../src/tracing/enrich/pending.ts';
import { load } from '../config/fixtures.ts';
import { someRun } from '../executions/some-execution.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { createDisk, openMemoryState } from '../world/memory-state.ts';

it('lets no more executions wait for their traces than configured', async () => {
  const { config } = await load({
    yaml: `servers: [{ name: prod, url: 'http://127.0.0.1:9', token_file: /run/token }]
traces: { spool: { max_pending: 3 } }`,
  });
  const [server] = config.servers;
  if (server === undefined) throw new Error('no server is configured');
  const ignore = (): void => undefined;
  const self = createSelf({ version: 'test', nodeVersion: 'test', measuresProcess: false });
  const { ofServer } = createTraces({
    config,
    // These casts are safe: nothing is read from the server or sent.
    otlp: {} as TracesOptions['otlp'],
    toDelivery: () => ({}) as Delivery,
    state: openMemoryState(createDisk(), { wait: async () => undefined }),
    self,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    clock: fakeClock({ now: () => 10_000 }),
    version: 'test',
  });
  const { commitHook } = ofServer(server, {
    client: {} as Client,
    port: createTracePort([]),
    suspectsOf: async () => [],
  });
  const kept: number[] = [];
  for (const ids of [[1, 2], [3, 4], [5]]) {
    const runs = ids.map((id) => ({ ...someRun({ id }), endedAtMs: 9000 }));
    kept.push(...readPending(commitHook.keep('pay', runs, 1)).map(({ id }) => id));
    commitHook.kept('pay', runs);
  }
  expect(kept).toEqual([1, 2, 3]);
  const skipped = 'automation_exporter_traces_skipped_total{server="prod",reason="max_pending"} 2';
  expect(await self.registry.metrics()).toContain(skipped);
});
