import { onTestFinished } from 'vitest';
import { createScene } from './scene.ts';

export const hour = { everyMs: 3_600_000, offsetMs: 0 };

/** Creates a scene that stops with its test. */
export function createStopping(options: Parameters<typeof createScene>[0] = {}) {
  const scene = createScene(options);
  onTestFinished(scene.stop);
  return scene;
}

/** Creates a project with a job that starts at every full hour; the day begins at noon. */
export function createHourly(options: Parameters<typeof createScene>[0] = {}) {
  const scene = createStopping(options);
  scene.control.createProject('pay');
  const id = scene.control.createJob('pay', { name: 'settle', group: 'nightly', schedule: hour });
  return { ...scene, id };
}
