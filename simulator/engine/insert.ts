import type { Execution, ExecutionType, Job, Project } from '../world/installation.ts';
import { fairWeather, type Work } from '../world/work.ts';
import type { World } from '../world/world.ts';
import { showEnd } from './finish.ts';
import { planOf, toOutcome } from './outcome.ts';
import { newExecution } from './start.ts';

/** A finished run with given times: an import, a short run between two polls, or old history. */
export type FinishedRun = {
  readonly project: Project;
  readonly job: Job | undefined;
  readonly work: Work;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** The time at which the end becomes visible; now if absent. */
  readonly visibleAtMs?: number;
  /** How far the clock of the run's member was ahead. */
  readonly skewMs?: number;
  /** A stored status: succeeded, failed, aborted, timedout, missed, or any custom word. */
  readonly status?: string;
  readonly user?: string;
  readonly type?: ExecutionType | null;
  readonly options?: Readonly<Record<string, string>>;
};

export function insertFinished(world: World, run: FinishedRun): Execution {
  const [member] = world.members;
  if (member === undefined) throw new Error('An installation needs at least one member.');
  const { project, job, user = 'someone', type = 'user', options = {}, startedAtMs, endedAtMs } = run;
  const { status = 'succeeded', skewMs = 0 } = run;
  const execution = newExecution(world, {
    project,
    job,
    work: status === 'succeeded' ? run.work : failing(run.work),
    conditions: status === 'succeeded' ? { ...fairWeather, failureFactor: 0 } : fairWeather,
    member,
    skewMs,
    type,
    user,
    options,
    attempt: 0,
    oneTime: false,
    startedAtMs,
    workAtMs: startedAtMs,
    fitMs: endedAtMs - startedAtMs,
  });
  const { succeededNodes, failedNodes } = toOutcome(planOf(execution));
  execution.end = {
    atMs: endedAtMs,
    visibleAtMs: Math.max(world.playedMs, run.visibleAtMs ?? 0),
    stored: status === 'timedout' ? 'failed' : status,
    timedOut: status === 'timedout',
    abortedBy: status === 'aborted' ? user : undefined,
    succeededNodes,
    failedNodes,
  };
  if (execution.end.visibleAtMs <= world.playedMs) {
    showEnd(world, execution);
  } else {
    project.open.set(execution.id, execution);
    world.queue.push(execution.end.visibleAtMs, { kind: 'show', execution });
  }
  return execution;
}

/** Makes the last step fail on every node. */
function failing(work: Work): Work {
  const last = work.steps.at(-1);
  if (last === undefined) return work;
  const { handler: _handler, ...step } = last;
  return { ...work, steps: [...work.steps.slice(0, -1), { ...step, failureChance: 1 }] };
}
