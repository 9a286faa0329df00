import { toSeed } from '../random.ts';
import type { Execution, ExecutionType, Job, Project } from '../world/installation.ts';
import { fairWeather, type Work } from '../world/work.ts';
import type { World } from '../world/world.ts';
import { showEnd } from './finish.ts';
import { planOf, toOutcome } from './outcome.ts';

/** A finished run with given times, as an import or a cleanup leaves it. */
export type FinishedRun = {
  readonly project: Project;
  readonly job: Job | undefined;
  readonly work: Work;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** When the end becomes visible; now when absent. */
  readonly visibleAtMs: number | undefined;
  /** How far the clock of its member was ahead. */
  readonly skewMs?: number;
  readonly status: 'succeeded' | 'failed' | 'aborted' | 'timedout' | (string & {});
  readonly user: string;
  readonly type: ExecutionType | null;
  readonly options: Readonly<Record<string, string>>;
};

export function insertFinished(world: World, run: FinishedRun): Execution {
  const [member] = world.members;
  if (member === undefined) throw new Error('An installation needs at least one member.');
  const id = world.nextId;
  world.nextId += 1;
  const { project, job, user, type, options, startedAtMs, endedAtMs, status } = run;
  const execution: Execution = {
    id,
    project,
    job,
    work: status === 'succeeded' ? run.work : failing(run.work),
    conditions: status === 'succeeded' ? { ...fairWeather, failureFactor: 0 } : fairWeather,
    seed: toSeed(world.seed, 'execution', id, startedAtMs),
    member,
    skewMs: run.skewMs ?? 0,
    type,
    user,
    options,
    attempt: 0,
    oneTime: false,
    startedAtMs,
    workAtMs: startedAtMs,
    lostAtMs: undefined,
    end: undefined,
    ended: false,
    retriedBy: undefined,
    jobDeleted: false,
    deletedAtMs: undefined,
    fitMs: endedAtMs - startedAtMs,
    plan: undefined,
  };
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
  world.executions.set(id, execution);
  if (execution.end.visibleAtMs <= world.playedMs) {
    showEnd(world, execution);
  } else {
    project.open.set(id, execution);
    world.queue.push(execution.end.visibleAtMs, { kind: 'show', execution });
  }
  return execution;
}

/** The last step fails on every node. */
function failing(work: Work): Work {
  const last = work.steps.at(-1);
  if (last === undefined) return work;
  const { handler: _handler, ...step } = last;
  return { ...work, steps: [...work.steps.slice(0, -1), { ...step, failureChance: 1 }] };
}
