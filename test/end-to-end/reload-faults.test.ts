import { afterEach, describe, expect, it } from 'vitest';
import type { SelfTracing } from '../../src/self-tracing.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

async function start(): Promise<Simulator> {
  const simulator = await startSimulator({ scenario: 'empty', token: 'a-token' });
  endings.push(() => simulator.stop());
  return simulator;
}

describe('end-to-end, a reload whose old parts do not end as they should', () => {
  it('goes on with the new ones all the same, and says so', async () => {
    const { url } = await start();
    const yaml = (every: string) =>
      `servers: [{ name: prod, url: '${url}', token_file: TOKEN }]\ncollectors: { execution-mode: { every: ${every} } }\n`;
    const selfTracing: SelfTracing = {
      ofPost: () => ({ send: () => Promise.reject(new Error('odd')), close: breakDown }),
      ofPoll: (_key, poll) => poll,
      ofTransport: (_server, transport) => transport,
      stop: async () => undefined,
    };
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    const daemon = await startDaemon({ yaml: yaml('15s'), token: 'a-token', env, selfTracing });
    endings.push(daemon.stop);
    await daemon.app.reload(await daemon.load(yaml('1s')));
    expect(daemon.logged.join('')).toContain('something did not end as it should');
    const before = await countModes(daemon);
    await eventually(async () => expect(await countModes(daemon)).toBeGreaterThan(before + 1));
  });
});

function breakDown(): never {
  throw new Error('it does not end');
}

async function countModes({ metrics }: { readonly metrics: () => Promise<string> }): Promise<number> {
  const text = await metrics();
  const [, count] = /api_request_duration_seconds_count\{[^}]*execution-mode[^}]*\} (\d+)/.exec(text) ?? [];
  return Number(count ?? 0);
}
