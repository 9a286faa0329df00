import { toSeed } from '../random.ts';
import type { Execution, Job, Member, Start } from '../world/installation.ts';
import type { Work } from '../world/work.ts';
import type { World } from '../world/world.ts';
import { planOf } from './outcome.ts';
import type { WorkflowRun } from './plan.ts';

/** Starts a run, or queues it for a scheduler thread. Returns undefined if the server refuses. */
export function requestStart(world: World, start: Start, atMs: number): Execution | undefined {
  const { job, project } = start;
  if (world.executionMode === 'passive' || project.disabled || project.deleted || !project.executionsEnabled) {
    return undefined;
  }
  if (job !== undefined && (!job.enabled || isFull(project.open, job))) {
    return undefined;
  }
  const member = chooseMember(world, start);
  if (member === undefined) return undefined;
  const full = member.busy >= member.threadPoolSize;
  if (full && start.type === 'scheduled') {
    member.waiting.push({ start, execution: undefined });
    return undefined;
  }
  const execution = createExecution(world, start, member, { startedAtMs: atMs, workAtMs: atMs });
  if (full) {
    execution.workAtMs = Number.POSITIVE_INFINITY;
    member.waiting.push({ start, execution });
    return execution;
  }
  beginWork(world, execution, atMs + start.delayMs);
  return execution;
}

/** Creates a run with its id now, and starts it later. */
export function requestLater(world: World, start: Start, atMs: number): Execution | undefined {
  const member = chooseMember(world, start);
  if (member === undefined) return undefined;
  const execution = createExecution(world, { ...start, type: 'user-scheduled' }, member, {
    startedAtMs: atMs,
    workAtMs: Number.POSITIVE_INFINITY,
  });
  world.queue.push(atMs, { kind: 'begin', execution });
  return execution;
}

/** Takes a thread for a run, and plans its end. */
export function beginWork(world: World, execution: Execution, workAtMs: number): void {
  execution.workAtMs = workAtMs;
  execution.member.busy += 1;
  execution.member.meters.started += 1;
  const plan = planOf(execution);
  execution.plan = plan;
  countReferences(world, execution, plan);
  const lengthMs = plan.endMs ?? 0;
  const limitMs = execution.work.timeoutMs ?? Number.POSITIVE_INFINITY;
  world.queue.push(workAtMs + Math.min(lengthMs, limitMs), { kind: 'end', execution });
}

/** Counts runs of referenced jobs. A job that runs as a step counts for its own average, however it ends. */
function countReferences(world: World, execution: Execution, { steps }: WorkflowRun): void {
  for (const { step, nodes, workflow, perNode, ...span } of steps) {
    const job = step.kind === 'jobref' ? world.jobs.get(step.text) : undefined;
    for (const { startMs, endMs } of job === undefined ? [] : perNode.size > 0 ? nodes.values() : [span]) {
      if (job === undefined || startMs === undefined || endMs === undefined) continue;
      const event = { kind: 'count', job, ms: endMs - startMs, during: execution } as const;
      world.queue.push(execution.workAtMs + endMs, event);
    }
    for (const below of perNode.size > 0 ? perNode.values() : workflow === undefined ? [] : [workflow]) {
      countReferences(world, execution, below);
    }
  }
}

/** Gives free threads to waiting runs. */
export function serveWaiting(world: World, member: Member, atMs: number): void {
  while (member.busy < member.threadPoolSize) {
    const next = member.waiting.shift();
    if (next === undefined) return;
    if (next.execution === undefined) requestStart(world, next.start, atMs);
    else if (next.execution.end === undefined) beginWork(world, next.execution, atMs);
  }
}

type Times = { readonly startedAtMs: number; readonly workAtMs: number };

function createExecution(world: World, start: Start, member: Member, times: Times): Execution {
  const { project, job, work, type, user, options, attempt } = start;
  const isStuck = job !== undefined && world.conditions.stuckJobs.includes(job.id);
  const conditions = isStuck ? { ...world.conditions, durationFactor: 1e6 } : world.conditions;
  const oneTime = !Number.isFinite(times.workAtMs);
  const { skewMs } = member;
  const given = { project, job, work, conditions, member, skewMs, type, user, options, attempt, oneTime, ...times };
  const execution = newExecution(world, { ...given, fitMs: undefined });
  project.open.set(execution.id, execution);
  return execution;
}

type Later = 'lostAtMs' | 'end' | 'ended' | 'retriedBy' | 'jobDeleted' | 'deletedAtMs' | 'plan';

export function newExecution(world: World, given: Omit<Execution, 'id' | 'seed' | Later>): Execution {
  const id = world.nextId;
  world.nextId += 1;
  const execution: Execution = {
    ...given,
    work: world.release.nestsConditions ? given.work : flatten(given.work),
    id,
    seed: toSeed(world.seed, 'execution', id, given.startedAtMs),
    lostAtMs: undefined,
    end: undefined,
    ended: false,
    retriedBy: undefined,
    jobDeleted: false,
    deletedAtMs: undefined,
    plan: undefined,
  };
  world.executions.set(id, execution);
  return execution;
}

/** Replaces conditional steps by their inner steps. */
function flatten(work: Work): Work {
  const steps = work.steps.flatMap((step) => (step.kind === 'conditional' ? (step.steps ?? []) : [step]));
  return { ...work, steps };
}

function chooseMember(world: World, start: Start): Member | undefined {
  const owner = start.job?.owner;
  if (start.type === 'scheduled' && owner !== undefined) return owner.alive ? owner : undefined;
  const alive = world.members.filter((member) => member.alive);
  return alive[world.nextId % Math.max(1, alive.length)];
}

/** Reports whether a job permits no further run. Runs that wait for their time count too. */
function isFull(open: ReadonlyMap<number, Execution>, { id, definition: { multiple, maxMultiple } }: Job): boolean {
  const most = multiple === true ? (maxMultiple ?? Number.POSITIVE_INFINITY) : 1;
  return [...open.values()].filter(({ job }) => job?.id === id).length >= most;
}
