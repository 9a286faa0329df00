import type { Execution } from '../world/execution.ts';
import type { Project } from '../world/project.ts';
import type { World } from '../world/world.ts';

/** Keeps memory bounded: the oldest finished executions go in batches once there are too many. */
export function forgetOldest(world: World): void {
  if (world.history.length <= world.retained * 1.1) return;
  const forgotten = world.history.slice(0, world.history.length - world.retained);
  world.history = world.history.slice(forgotten.length);
  const byProject = new Map<Project, Set<Execution>>();
  for (const execution of forgotten) {
    const { id, project } = execution;
    byProject.set(project, (byProject.get(project) ?? new Set()).add(execution));
    if (world.executions.get(id) === execution) {
      world.executions.delete(id);
      world.incomplete.delete(id);
    }
  }
  for (const [project, executions] of byProject) project.completed.remove(executions);
}
