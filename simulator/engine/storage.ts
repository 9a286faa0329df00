import type { Execution } from '../world/installation.ts';
import type { World } from '../world/world.ts';

/** Tries once to store the log of a finished run in the log storage. */
export function storeLog(world: World, execution: Execution, attempt: number, atMs: number): void {
  const { storage } = execution.member;
  if (world.executions.get(execution.id) !== execution || world.settings.logStoragePlugin === undefined) return;
  storage.total += attempt === 0 ? 1 : 0;
  storage.retries += attempt === 0 ? 0 : 1;
  if (!world.settings.logStorageFailing) {
    storage.succeeded += 1;
    world.incomplete.delete(execution.id);
    return;
  }
  storage.failed += 1;
  const queued = attempt + 1 < maxAttempts;
  const sinceMs = world.incomplete.get(execution.id)?.sinceMs ?? atMs;
  world.incomplete.set(execution.id, { execution, queued, sinceMs });
  if (queued) world.queue.push(atMs + retryEveryMs, { kind: 'store', execution, attempt: attempt + 1 });
}

/** Does what the documents call "resume": each incomplete log is soon stored. */
export function resumeIncomplete(world: World): void {
  for (const entry of world.incomplete.values()) {
    if (!entry.queued) {
      entry.queued = true;
      world.queue.push(world.playedMs + 1000, { kind: 'store', execution: entry.execution, attempt: 1 });
    }
  }
}

const maxAttempts = 10;
const retryEveryMs = 60_000;
