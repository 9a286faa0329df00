import { type Execution, endedAt, type Job, type StoredStatus, startedAt } from '../world/installation.ts';
import type { World } from '../world/world.ts';
import { planOf, toOutcome } from './outcome.ts';
import { requestStart, serveWaiting } from './start.ts';

/** Ends a run as planned, or at its timeout. */
export function reachEnd(world: World, execution: Execution, atMs: number): void {
  if (execution.end !== undefined || execution.lostAtMs !== undefined) return;
  const workedMs = atMs - execution.workAtMs;
  const outcome = toOutcome(planOf(execution));
  const timedOut = workedMs < outcome.lengthMs;
  const stored = outcome.succeeded && !timedOut ? 'succeeded' : 'failed';
  endExecution(world, execution, { atMs, stored, timedOut, abortedBy: undefined });
}

type Ending = {
  readonly atMs: number;
  readonly stored: StoredStatus;
  readonly timedOut: boolean;
  readonly abortedBy: string | undefined;
};

/** Stores the end of a run. With a save delay, the end becomes visible later. */
export function endExecution(world: World, execution: Execution, ending: Ending): void {
  const { atMs, stored, timedOut, abortedBy } = ending;
  const { member } = execution;
  const done = toOutcome(planOf(execution), atMs - execution.workAtMs);
  // No record shows which nodes a lost run had reached.
  const { succeededNodes, failedNodes } =
    execution.lostAtMs === undefined ? done : { succeededNodes: [], failedNodes: [] };
  const visibleAtMs = Math.max(atMs, world.playedMs) + world.settings.saveDelayMs;
  execution.end = { atMs, visibleAtMs, stored, timedOut, abortedBy, succeededNodes, failedNodes };
  if (Number.isFinite(execution.workAtMs) && execution.lostAtMs === undefined) {
    member.busy -= 1;
    serveWaiting(world, member, atMs);
  }
  if (visibleAtMs <= world.playedMs) {
    showEnd(world, execution);
    return;
  }
  world.queue.push(visibleAtMs, { kind: 'show', execution });
}

/** Makes the end visible, creates the next attempt, and passes the log to storage. */
export function showEnd(world: World, execution: Execution): void {
  const { end, job, project, member } = execution;
  if (end === undefined || execution.ended || world.executions.get(execution.id) !== execution) return;
  planRetry(world, execution, end.visibleAtMs);
  execution.ended = true;
  execution.plan = undefined;
  project.open.delete(execution.id);
  project.completed.add(execution);
  world.history.push(execution);
  if (job !== undefined && end.stored === 'succeeded') {
    // An execution that was added to the past counts from its end on.
    const atMs = (execution.fitMs === undefined ? end.visibleAtMs : end.atMs) + world.settings.averageDelayMs;
    const ms = endedAt(execution) - startedAt(execution);
    if (atMs <= world.playedMs) countRun(job, ms);
    else world.queue.push(atMs, { kind: 'count', job, ms, during: undefined });
  }
  const meter = end.abortedBy !== undefined ? 'aborted' : end.stored === 'succeeded' ? 'succeeded' : 'failed';
  member.meters[meter] += 1;
  world.queue.push(end.visibleAtMs + world.settings.storageDelayMs, { kind: 'store', execution, attempt: 0 });
  forgetOldest(world);
}

/** Updates the average: the mean of ten runs, after which each new run weighs a tenth. */
export function countRun({ statistics }: Job, ms: number): void {
  const { count, totalMs } = statistics;
  const isFirst = count === 0 || totalMs === 0;
  const rest = isFirst ? 0 : count < 10 ? totalMs : totalMs - Math.floor(totalMs / count);
  Object.assign(statistics, { count: isFirst ? 1 : Math.min(10, count + 1), totalMs: rest + ms });
}

function planRetry(world: World, execution: Execution, atMs: number): void {
  const { end, job } = execution;
  const retry = job?.definition.retry;
  if (end?.stored !== 'failed' || job === undefined || retry === undefined || execution.attempt >= retry.attempts) {
    return;
  }
  // The finished attempt is removed first, because it must not count as a running execution of its job.
  execution.project.open.delete(execution.id);
  const start = {
    project: execution.project,
    job,
    work: execution.work,
    type: execution.type ?? 'user',
    user: execution.user,
    options: execution.options,
    attempt: execution.attempt + 1,
    delayMs: retry.delayMs,
  };
  execution.retriedBy = requestStart(world, start, atMs);
  if (execution.retriedBy === undefined) execution.end = { ...end, stored: 'failed-with-retry' };
}

/** Removes the oldest finished executions in batches if there are too many. */
function forgetOldest(world: World): void {
  if (world.history.length <= world.retained * 1.1) return;
  const forgotten = world.history.slice(0, world.history.length - world.retained);
  world.history = world.history.slice(forgotten.length);
  remove(world, forgotten);
}

/** Deletes executions. If a retry is deleted, the previous attempt loses its link. */
export function deleteExecutions(world: World, executions: readonly Execution[]): void {
  for (const execution of executions) {
    execution.deletedAtMs = world.playedMs;
    execution.project.open.delete(execution.id);
    for (const before of execution.attempt > 0 ? world.executions.values() : []) {
      if (before.retriedBy !== execution || before.end === undefined) continue;
      before.retriedBy = undefined;
      before.end = { ...before.end, stored: 'failed-with-retry' };
    }
  }
  remove(world, executions);
}

function remove(world: World, gone: readonly Execution[]): void {
  for (const [project, executions] of Map.groupBy(gone, ({ project: of }) => of)) {
    project.completed.remove(new Set(executions));
  }
  for (const execution of gone) {
    if (world.executions.get(execution.id) !== execution) continue;
    world.executions.delete(execution.id);
    world.incomplete.delete(execution.id);
  }
}
