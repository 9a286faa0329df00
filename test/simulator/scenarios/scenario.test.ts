import { describe, expect, it } from 'vitest';
import { scenarios } from '../../../simulator/scenarios/scenario.ts';
import type { Simulator } from '../../../simulator/simulator.ts';
import { startSimulator } from '../../../simulator/simulator.ts';
import { ask } from '../caller.ts';

const minute = 60_000;

type SystemStats = {
  readonly system: {
    readonly stats: { readonly scheduler: { readonly running: number; readonly threadPoolSize: number } };
  };
};

describe('simulator/scenarios', () => {
  it('has the documented scenarios', () => {
    expect(scenarios.map(({ name }) => name)).toEqual([
      'quiet-day',
      'bad-night',
      'failing-night',
      'stuck-queue',
      'passive-window',
      'log-storage-outage',
      'node-down',
      'missed-night',
      'overlap',
      'tight-pool',
      'orphaned-schedule',
      'retry-storm',
      'cluster-takeover',
      'thousand-projects',
      'empty',
    ]);
  });

  it('refuses an unknown scenario, and lists the known ones', async () => {
    await expect(startSimulator({ scenario: 'doomsday' })).rejects.toThrow(
      'There is no scenario "doomsday". Known ones: quiet-day, bad-night, failing-night, stuck-queue, passive-window, log-storage-outage, node-down, missed-night, overlap, tight-pool, orphaned-schedule, retry-storm, cluster-takeover, thousand-projects, empty.',
    );
  });

  it('plays the same day for the same seed and another for another', async () => {
    const days = [];
    for (const seed of [7, 7, 8]) {
      const simulator = await start('quiet-day', seed);
      days.push(JSON.stringify(simulator.truth().executions));
      await simulator.stop();
    }
    expect(days[1]).toBe(days[0]);
    expect(days[2]).not.toBe(days[0]);
  });

  it.each([0, 17_000, 400_500])(
    'plays the same trouble in bad-night, whenever it starts (%i ms later)',
    async (later) => {
      const startMs = Date.UTC(2026, 0, 15, 12) + later;
      let nowMs = startMs;
      const simulator = await startSimulator({ scenario: 'bad-night', clock: 'free', now: () => nowMs });
      nowMs += 2 * minute;
      const { executions } = simulator.truth();
      await simulator.stop();
      const failed = executions.filter(({ status }) => status === 'failed');
      expect(failed.filter(({ startedAtMs }) => startedAtMs < startMs)).toEqual([]);
      const countOf = (project: string): number => failed.filter((one) => one.project === project).length;
      expect({
        logistics: countOf('logistics'),
        statements: failed.filter(({ jobName }) => jobName === 'statements').length,
      }).toEqual({ logistics: 8, statements: 3 });
      // The import still runs when its first two times come.
      const imports = executions.filter(
        ({ jobName, endedAtMs = Infinity }) => jobName === 'import' && endedAtMs > startMs,
      );
      expect(imports[0]?.startedAtMs).toBeLessThan(startMs);
      expect(imports[0]?.endedAtMs ?? Infinity).toBeGreaterThan(startMs + 35_000);
    },
  );

  it('has a past at once, and nothing in the future', async () => {
    const simulator = await start('quiet-day');
    const { executions } = simulator.truth();
    const { json } = await ask(simulator, 'api/47/system/info');
    await simulator.stop();
    const now = (json as { system: { timestamp: { epoch: number } } }).system.timestamp.epoch;
    expect(executions.length).toBeGreaterThan(500);
    expect(executions.filter(({ startedAtMs, endedAtMs }) => startedAtMs > now || (endedAtMs ?? 0) > now)).toEqual([]);
  });

  it('runs more with a higher speed', async () => {
    const counts = [];
    for (const speed of [1, 4]) {
      const simulator = await startSimulator({ clock: 'free', speed, historyMs: 30 * minute });
      counts.push(simulator.truth().executions.length);
      await simulator.stop();
    }
    expect(counts[1]).toBeGreaterThan((counts[0] ?? 0) * 1.5);
  });

  it('is passive for three minutes in the passive window', async () => {
    const simulator = await start('passive-window');
    const modes = [];
    for (const ms of [30_000, minute, 2 * minute, minute]) {
      simulator.advance(ms);
      modes.push(simulator.truth().executionMode);
    }
    await simulator.stop();
    expect(modes).toEqual(['active', 'passive', 'passive', 'active']);
  });

  it('stores no logs during the outage and catches up after it', async () => {
    const simulator = await start('log-storage-outage');
    simulator.advance(8 * minute);
    const during = await ask(simulator, 'api/47/system/logstorage');
    simulator.advance(6 * minute);
    const after = await ask(simulator, 'api/47/system/logstorage');
    await simulator.stop();
    const of = ({ json }: { json: unknown }) => json as { incompleteCount: number; failedCount: number };
    expect(of(during).incompleteCount).toBeGreaterThan(5);
    expect(of(after).incompleteCount).toBe(0);
    expect(of(after).failedCount).toBeGreaterThan(of(during).incompleteCount);
  });

  it('fills all scheduler threads in the stuck queue, and frees them again', async () => {
    const simulator = await start('stuck-queue');
    simulator.advance(14 * minute);
    const stuck = await ask(simulator, 'api/47/metrics/healthcheck');
    const { json } = await ask(simulator, 'api/47/system/info');
    simulator.advance(10 * minute);
    const aborted = simulator.truth().executions.filter(({ status }) => status === 'aborted');
    await simulator.stop();
    expect(stuck.json).toMatchObject({
      'quartz.scheduler.threadPool': { healthy: false, message: '3/3 threads used' },
    });
    expect(json).toMatchObject({ system: { stats: { scheduler: { running: 3, threadPoolSize: 3 } } } });
    expect(aborted.length).toBeGreaterThan(0);
  });

  it('keeps all scheduler threads of the stuck queue busy until the alert fires', async () => {
    const simulator = await start('stuck-queue');
    const shares: number[] = [];
    for (let asked = 0; asked < 64; asked += 1) {
      simulator.advance(minute / 4);
      const { json } = await ask(simulator, 'api/47/system/info');
      const { running, threadPoolSize } = (json as SystemStats).system.stats.scheduler;
      shares.push(running / threadPoolSize);
    }
    await simulator.stop();
    // As the rule does: an average of 5 minutes, for 5 minutes.
    const averages = shares
      .slice(19)
      .map((_, index) => shares.slice(index, index + 20).reduce((sum, one) => sum + one, 0) / 20);
    expect(averages.filter((average) => average >= 0.95).length).toBeGreaterThan(21);
  });

  it.each([
    ['failing-night', 20, (status: string) => status !== 'succeeded' && status !== 'running'],
    ['retry-storm', 20, (status: string) => status === 'failed-with-retry'],
  ] as const)('fails more often in the %s than on a quiet day', async (name, minutes, isBad) => {
    const shares = [];
    for (const scenario of ['quiet-day', name]) {
      const simulator = await start(scenario);
      const before = simulator.truth().executions.length;
      simulator.advance(minutes * minute);
      const { executions } = simulator.truth();
      const since = scenario === 'retry-storm' ? executions : executions.slice(before);
      shares.push(since.filter(({ status }) => isBad(status)).length / since.length);
      await simulator.stop();
    }
    expect(shares[1]).toBeGreaterThan((shares[0] ?? 1) * 2);
  });

  it('fails on the node that is down, wherever it is used', async () => {
    const simulator = await start('node-down');
    simulator.advance(5 * minute);
    const { json } = await ask(simulator, 'api/47/project/payments/executions?recentFilter=3n&max=0');
    await simulator.stop();
    const { executions } = json as { executions: { failedNodes?: string[] }[] };
    expect(executions.filter(({ failedNodes }) => failedNodes?.includes('pay02') === true).length).toBeGreaterThan(1);
  });

  it('loses a member and its runs in the takeover, while the others continue', async () => {
    const simulator = await start('cluster-takeover');
    simulator.advance(60 * minute);
    const { executions } = simulator.truth();
    await simulator.stop();
    const fresh = executions.filter(({ startedAtMs }) => startedAtMs > Date.UTC(2026, 0, 15, 12, 3));
    expect(new Set(fresh.map(({ member }) => member))).toEqual(new Set(['auto-1', 'auto-2']));
    expect(
      executions.filter(({ status, member }) => status === 'running' && member === 'auto-3').length,
    ).toBeGreaterThan(0);
  });

  it('has a thousand projects; ten run something within a few minutes', async () => {
    const simulator = await start('thousand-projects');
    const projects = await ask(simulator, 'api/47/projects');
    simulator.advance(3 * minute);
    const active = new Set(
      simulator
        .truth()
        .executions.slice(-25)
        .map(({ project }) => project),
    );
    await simulator.stop();
    expect((projects.json as unknown[]).length).toBe(1000);
    expect(active.size).toBeLessThanOrEqual(20);
    expect(active.size).toBeGreaterThanOrEqual(10);
  });
});

function start(scenario: string, seed = 1): Promise<Simulator> {
  return startSimulator({ scenario, seed, clock: 'free', retained: Infinity });
}
