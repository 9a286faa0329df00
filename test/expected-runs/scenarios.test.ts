import { afterEach, describe, expect, it } from 'vitest';
import { createScene } from './scene.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** The misses of a scenario by their cause, after a while. */
async function playScenario(scenario: string, minutes: number) {
  const scene = createScene({ scenario });
  stops.push(scene.stop);
  await scene.minutes(minutes);
  const misses = new Map<string, number>();
  for (const line of scene.shown('schedule_missed_total')) {
    const [, reason = '', count = '0'] = /reason="(\w+)"\} (\d+)$/.exec(line) ?? [];
    if (Number(count) > 0) misses.set(reason, (misses.get(reason) ?? 0) + Number(count));
  }
  return { reasons: [...misses.keys()], count: [...misses.values()].reduce((sum, each) => sum + each, 0), scene };
}

describe('expected-runs, in the scenarios of the demo', () => {
  it('finds no miss on a quiet day', { timeout: 120_000 }, async () => {
    expect(await playScenario('quiet-day', 25)).toMatchObject({ reasons: [], count: 0 });
  });

  it('finds what a passive server missed in missed-night, and no other cause', { timeout: 120_000 }, async () => {
    const { reasons, count } = await playScenario('missed-night', 25);
    expect(reasons).toEqual(['passive']);
    expect(count).toBeGreaterThan(10);
  });

  it('finds in overlap that a job takes longer than the distance of its times', { timeout: 120_000 }, async () => {
    const { reasons, count } = await playScenario('overlap', 20);
    expect(reasons).toEqual(['overlap']);
    expect(count).toBeGreaterThan(3);
  });

  it('expects more runs than threads in tight-pool', { timeout: 120_000 }, async () => {
    const { scene } = await playScenario('tight-pool', 3);
    expect(scene.shown('scheduler_expected_saturation_timestamp_seconds')).toHaveLength(1);
  });
});
