import type { Project } from '../world/project.ts';
import type { World } from '../world/world.ts';

/** Keeps memory bounded: the oldest finished executions go in batches once there are too many. */
export function forgetOldest(world: World): void {
  if (world.history.length <= world.retained * 1.1) {
    return;
  }
  const forgotten = world.history.slice(0, world.history.length - world.retained);
  world.history = world.history.slice(forgotten.length);
  const byProject = new Map<Project, Set<number>>();
  for (const execution of forgotten) {
    const { id, project } = execution;
    const ids = byProject.get(project) ?? new Set<number>();
    byProject.set(project, ids.add(id));
    if (world.executions.get(id) === execution) {
      world.executions.delete(id);
    }
    world.incomplete.delete(id);
  }
  for (const [project, ids] of byProject) {
    project.completed.remove(ids);
  }
}
