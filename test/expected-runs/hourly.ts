import { createScene } from './scene.ts';

export const hour = { everyMs: 3_600_000, offsetMs: 0 };
const stops: (() => Promise<void>)[] = [];

/** Ends what was created. */
export async function stopScenes(): Promise<void> {
  for (const stop of stops.splice(0)) await stop();
}

/** Creates a scene that `stopScenes` ends. */
export function createStoppable(options: Parameters<typeof createScene>[0] = {}) {
  const scene = createScene(options);
  stops.push(scene.stop);
  return scene;
}

/** One project with a job that starts every hour on the hour; the day begins at noon. */
export function createHourly(options: Parameters<typeof createScene>[0] = {}) {
  const scene = createStoppable(options);
  scene.control.createProject('pay');
  const id = scene.control.createJob('pay', { name: 'settle', group: 'nightly', schedule: hour });
  return { ...scene, id };
}
