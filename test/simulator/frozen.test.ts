import { describe, expect, it } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { ask } from './caller.ts';

// The paths that collectors read; the test requests them in both directions.
const paths = [
  'system/info',
  'system/executions/status',
  'system/logstorage',
  'system/logstorage/incomplete',
  'metrics/metrics',
  'metrics/healthcheck',
  'metrics/threads',
  'projects?meta=config',
  'scheduler/jobs',
  'project/payments/jobs',
  'project/payments/resources',
  'project/payments/executions?max=0',
  'project/*/executions/running?max=0',
  'executions/metrics?recentFilter=1h',
  'tokens',
  'user/list/',
  'storage/keys/',
];

describe('simulator/frozen', () => {
  it.each(['log-storage-outage', 'cluster-takeover'])(
    'gives each request the same response in any order: %s',
    async (scenario) => {
      const first = await readAll(scenario, paths);
      const second = await readAll(scenario, [...paths, ...paths].toReversed());
      expect(second).toEqual(first);
      expect(Object.keys(first)).toHaveLength(paths.length);
    },
  );

  it('starts just after noon', async () => {
    const texts = await readAll('empty', ['system/info']);
    const { system } = JSON.parse(texts['system/info'] ?? '') as {
      system: { timestamp: { datetime: string }; ping: { href: string } };
    };
    expect(system.timestamp.datetime).toBe('2026-01-15T12:02:30Z');
    expect(system.ping.href).toBe('https://automation.example.org/api/47/metrics/ping');
  });

  it('moves its clock only by `advance`', async () => {
    const simulator = await startSimulator({ scenario: 'quiet-day', frozen: true });
    const before = simulator.truth().executions.length;
    simulator.advance(600_000);
    const after = simulator.truth().executions.length;
    await simulator.stop();
    expect(after).toBeGreaterThan(before);
  });
});

async function readAll(scenario: string, order: readonly string[]): Promise<Record<string, string>> {
  const simulator = await startSimulator({ scenario, frozen: true });
  simulator.advance(150_000);
  const texts: Record<string, string> = {};
  for (const path of order) {
    texts[path] = (await ask(simulator, `api/47/${path}`)).text;
  }
  await simulator.stop();
  return texts;
}
