import { afterEach, describe, expect, it } from 'vitest';
import { createScene } from './scene.ts';

const minute = 60_000;
const hour = { everyMs: 60 * minute, offsetMs: 0 };
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** One project with a job that starts every hour on the hour; the day begins at noon. */
function createHourly(options: Parameters<typeof createScene>[0] = {}) {
  const scene = createScene(options);
  stops.push(scene.stop);
  scene.control.createProject('pay');
  const id = scene.control.createJob('pay', { name: 'settle', group: 'nightly', schedule: hour });
  return { ...scene, id };
}

describe('expected-runs/lists', () => {
  it('asks for the list of a project once, although executions learn from it, too', async () => {
    const { minutes, requests } = createHourly();
    await minutes(70);
    const before = requests().length;
    await minutes(60);
    const lists = requests()
      .slice(before)
      .filter(({ path }) => path.endsWith('/jobs'));
    expect(lists).toHaveLength(60);
  });
});
