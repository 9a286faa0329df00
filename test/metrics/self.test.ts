import perfHooks from 'node:perf_hooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { renderExposition } from '../../src/metrics/exposition.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import { fakeClock } from '../support/fake-clock.ts';

async function scrape(measuresProcess?: boolean): Promise<readonly string[]> {
  const measured = measuresProcess === undefined ? {} : { measuresProcess };
  const self = createSelf({ version: '1', nodeVersion: '2', ...measured });
  self.apiDuration.observe({ server: 'prod', api_endpoint: 'projects' }, 0.3);
  const text = await renderExposition(createSnapshots(fakeClock({ ticks: () => 0 })), self.registry, 'text');
  return text.split('\n');
}

describe('metrics/self', () => {
  it('counts requests by duration, in buckets from 5 ms to 10 s', async () => {
    const buckets = (await scrape()).filter((line) => line.includes('_bucket{server="prod"'));
    expect(buckets.map((line) => line.replace(/^.*le="(.*)"\} (.*)$/, '$1: $2'))).toEqual([
      '0.005: 0',
      '0.01: 0',
      '0.025: 0',
      '0.05: 0',
      '0.1: 0',
      '0.25: 0',
      '0.5: 1',
      '1.0: 1',
      '2.5: 1',
      '5.0: 1',
      '10.0: 1',
      '+Inf: 1',
    ]);
  });

  it('measures its process exactly once, unless `measuresProcess` is false', async () => {
    const isOfProcess = (line: string) => line.startsWith('process_resident_memory_bytes ');
    expect((await scrape()).filter(isOfProcess)).toHaveLength(1);
    expect((await scrape(true)).filter(isOfProcess)).toHaveLength(1);
    expect((await scrape(false)).filter(isOfProcess)).toEqual([]);
  });

  it('has no gauge of its process whose name suggests another type', async () => {
    const gauges = (await scrape()).flatMap((line) => /^# TYPE (\S+) gauge$/.exec(line)?.[1] ?? []);
    expect(gauges).toContain('nodejs_active_handles');
    expect(gauges.filter((name) => /_(total|count|sum|bucket|histogram|summary)$/.test(name))).toEqual([]);
    const names = (await scrape()).flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? []);
    expect(names.filter((name) => /_(histogram|summary|gauge|counter)$/.test(name))).toEqual([]);
  });
});

describe('metrics/self, an idle process', () => {
  it('wakes at most ten times a second to measure its event loop', () => {
    const timers = vi.spyOn(globalThis, 'setInterval');
    const monitors = vi.spyOn(perfHooks, 'monitorEventLoopDelay');
    onTestFinished(() => monitors.mockRestore());
    onTestFinished(() => timers.mockRestore());
    createSelf({ version: '1', nodeVersion: '2' });
    expect(monitors.mock.calls).toEqual([[{ resolution: 100 }]]);
    expect(timers.mock.calls.map(([, everyMs = 0]) => everyMs).filter((everyMs) => everyMs < 60_000)).toEqual([]);
  });
});
