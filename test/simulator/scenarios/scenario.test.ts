import { describe, expect, it } from 'vitest';
import { scenarios } from '../../../simulator/scenarios/scenario.ts';
import type { Simulator } from '../../../simulator/simulator.ts';
import { startSimulator } from '../../../simulator/simulator.ts';
import { ask } from '../caller.ts';

const minute = 60_000;

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

  it('lists the known scenarios for an unknown one', async () => {
    await expect(startSimulator({ scenario: 'doomsday' })).rejects.toThrow(
      'There is no scenario "doomsday". Known ones: quiet-day, bad-night, failing-night, stuck-queue, passive-window, log-storage-outage, node-down, missed-night, overlap, tight-pool, orphaned-schedule, retry-storm, cluster-takeover, thousand-projects, empty.',
    );
  });

  it('plays the same day for the same seed', async () => {
    const days = [];
    for (const seed of [7, 7, 8]) {
      const simulator = await start('quiet-day', seed);
      days.push(JSON.stringify(simulator.truth().executions));
      await simulator.stop();
    }
    expect(days[1]).toBe(days[0]);
    expect(days[2]).not.toBe(days[0]);
  });

  it.each([0, 17_000, 240_000, 400_500])('plays the same trouble in bad-night (%i ms later)', async (later) => {
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
    const others = executions.filter(({ status }) => status === 'failed-with-retry' || status === 'timedout');
    expect(others).toEqual([]);
    expect(failed).toHaveLength(11);
    // At the first two scheduled times, the previous import is still running.
    const imports = executions.filter(
      ({ jobName, endedAtMs = Infinity }) => jobName === 'import' && endedAtMs > startMs,
    );
    expect(imports[0]?.startedAtMs).toBeLessThan(startMs);
    expect(imports[0]?.endedAtMs ?? Infinity).toBeGreaterThan(startMs + 52_000);
  });

  it('has no future executions at the start', async () => {
    const simulator = await start('quiet-day');
    const { executions } = simulator.truth();
    const { json } = await ask(simulator, 'api/47/system/info');
    await simulator.stop();
    const now = (json as { system: { timestamp: { epoch: number } } }).system.timestamp.epoch;
    expect(executions.length).toBeGreaterThan(500);
    expect(executions.filter(({ startedAtMs, endedAtMs }) => startedAtMs > now || (endedAtMs ?? 0) > now)).toEqual([]);
  });

  it('runs more executions at a higher speed', async () => {
    const counts = [];
    for (const speed of [1, 4]) {
      const simulator = await startSimulator({ clock: 'free', speed, historyMs: 30 * minute });
      counts.push(simulator.truth().executions.length);
      await simulator.stop();
    }
    expect(counts[1]).toBeGreaterThan((counts[0] ?? 0) * 1.5);
  });

  it('has more retries in the retry-storm than on a quiet day', async () => {
    const shares = [];
    for (const scenario of ['quiet-day', 'retry-storm']) {
      const simulator = await start(scenario);
      simulator.advance(20 * minute);
      const { executions } = simulator.truth();
      shares.push(executions.filter(({ status }) => status === 'failed-with-retry').length / executions.length);
      await simulator.stop();
    }
    expect(shares[1]).toBeGreaterThan((shares[0] ?? 1) * 2);
  });

  it('loses a member and its runs in the takeover', async () => {
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

  it('has a thousand projects', async () => {
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
