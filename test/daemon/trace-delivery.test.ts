import { expect, it } from 'vitest';
import { createDelivery } from '../../src/daemon/trace-delivery.ts';
import type { TracesOptions } from '../../src/daemon/trace-pipeline.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createWait } from '../../src/tracing/deliver/pause.ts';
import type { OtlpSettings } from '../../src/tracing/deliver/settings.ts';
import { readOtlpSettings } from '../../src/tracing/deliver/settings.ts';
import { load } from '../config/fixtures.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { createDisk, openMemoryState } from '../world/memory-state.ts';

/** Starts the delivery to an endpoint that refuses every request; lists ended deliveries. */
async function start() {
  const yaml = "servers: [{ url: 'http://127.0.0.1:9', token_file: /run/token }]\ndiagnosis: { events: true }";
  const { config } = await load({ yaml });
  const ignore = (): void => undefined;
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_HEADERS: 'key=planted+secret' };
  // These casts are safe: the variables are right.
  const read = (signal: 'traces' | 'logs') => readOtlpSettings(env, signal) as OtlpSettings;
  const state = openMemoryState(createDisk(), { wait: async () => undefined });
  const closed: string[] = [];
  const toPost: TracesOptions['toPost'] = ({ settings }) => ({
    send: async () => ({
      status: 400,
      contentType: 'text/plain',
      retryAfter: undefined,
      bytes: Buffer.from('no planted+secret or planted%2Bsecret'),
      isCut: false,
    }),
    close: () => closed.push(new URL(settings.endpoint).pathname),
  });
  const clock = fakeClock();
  const delivery = createDelivery(
    {
      config,
      otlp: { ...read('traces'), logs: read('logs') },
      toDelivery: undefined,
      state,
      self: createSelf({ version: 'test', nodeVersion: 'test', measuresProcess: false }),
      log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
      clock,
      version: 'test',
      toPost,
      wait: createWait(clock),
    },
    () => 0,
  );
  delivery.start();
  return { delivery, state, closed };
}

it('also ends the delivery of log records', async () => {
  const { delivery, closed } = await start();
  await delivery.stop();
  expect(closed.toSorted()).toEqual(['/v1/logs', '/v1/traces']);
});

it('keeps some megabytes of refused traces until a person retries or drops them', async () => {
  const { delivery, state } = await start();
  const about = { server: 'prod', startedAtMs: 1, spooledAtMs: 2, encoding: 'protobuf', spans: 1 } as const;
  const bytes = Buffer.alloc(2 ** 20);
  const traces = ['1', '2', '3'].map((id) => ({ ...about, key: id, executionId: id, bytes }));
  await state.ledger.commit('prod', { spooled: traces });
  delivery.wake();
  await eventually(async () => expect(await state.spool.size()).toMatchObject({ traces: 0 }));
  const reason = 'HTTP 400: no <secret> or <secret>';
  expect((await delivery.quarantined.list()).map((trace) => [trace.name, trace.reason])).toEqual(
    ['prod/1', 'prod/2', 'prod/3'].map((name) => [name, reason]),
  );
  await delivery.stop();
});

it('makes requests of a limited size for thousands of changes', async () => {
  const { delivery } = await start();
  const toSpooled = delivery.eventsOf?.('prod');
  const about = { kind: 'node', project: 'pay', what: 'added', afterMs: 1, beforeMs: 9 } as const;
  const changes = Array.from({ length: 5000 }, (_, index) => ({ ...about, subject: `node-${index}`.repeat(20) }));
  const [spooled = [], again = []] = await Promise.all([toSpooled?.(changes), toSpooled?.(changes)]);
  expect(spooled.reduce((sum, { spans }) => sum + spans, 0)).toBe(5000);
  expect(Math.max(...spooled.map(({ bytes }) => bytes.length))).toBeLessThan(2 ** 20);
  expect(new Set(spooled.map(({ key }) => key)).size).toBe(spooled.length);
  expect(Math.max(...spooled.map(({ key }) => key.length))).toBeLessThan(200);
  expect(again.map(({ key }) => key)).toEqual(spooled.map(({ key }) => key));
  await delivery.stop();
});
