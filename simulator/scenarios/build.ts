import { scheduleHabit, scheduleJob } from '../engine/engine.ts';
import type { Schedule } from '../engine/schedule.ts';
import { toSeed } from '../random.ts';
import { createJob, type Job, type NodeResource, type Project } from '../world/installation.ts';
import { createProject } from '../world/project.ts';
import type { JobDefinition, Step, Work } from '../world/work.ts';
import type { World } from '../world/world.ts';

/** A scenario: the servers, the length of the past, and the initial installation. */
export type Scenario = {
  readonly name: string;
  readonly about: string;
  /** The alerts that fire within the first hour of the scenario, perhaps with the reason. */
  readonly alerts: readonly string[];
  readonly members: number;
  readonly historyMs: number;
  readonly threadPoolSize?: number;
  /** Builds the world at the start of its past. `liveMs` is the start of the present. */
  readonly build: (world: World, liveMs: number) => void;
  /** Pages of the exporter that show what happens, each with its content. `{server}` is the name of the server in the exporter. */
  readonly pages?: readonly (readonly [shows: string, page: string])[];
};

export function addProject(world: World, name: string, nodes: readonly string[] = []): Project {
  const project = createProject(name, world.playedMs, world.release.tieOrder);
  project.nodes = new Map(nodes.map((node) => [node, toNode(node)]));
  world.projects.set(name, project);
  return project;
}

export function addJob(world: World, project: Project, definition: JobDefinition, id?: string): Job {
  const owner = world.members[world.jobs.size % world.members.length];
  if (owner === undefined) throw new Error('An installation needs at least one member.');
  const job = createJob(project, definition, owner, id);
  project.jobs.set(job.id, job);
  world.jobs.set(job.id, job);
  scheduleJob(world, { kind: 'trigger', job, generation: job.generation }, world.playedMs);
  return job;
}

/** Adds a person who sometimes runs a job, or a command, by hand. */
export function addHabit(
  world: World,
  target: Job | { readonly project: Project; readonly work: Work },
  schedule: Schedule,
  user: string,
): void {
  const isCommand = 'work' in target;
  const { project } = target;
  const byHand = isCommand ? target.work : undefined;
  scheduleHabit(world, { schedule, user, project, job: isCommand ? undefined : target, work: byHand }, world.playedMs);
}

export function addIncident(
  world: World,
  atMs: number,
  everyMs: number | undefined,
  apply: (world: World) => void,
): void {
  world.queue.push(atMs, { kind: 'incident', apply, everyMs });
}

export function work(nodes: readonly string[], steps: readonly Step[], more: Partial<Work> = {}): Work {
  return { nodes, steps, keepGoing: false, timeoutMs: undefined, references: new Map(), ...more };
}

/** Returns every referenced job by its id, including indirect references. */
export function references(...jobs: readonly Job[]): ReadonlyMap<string, Work> {
  const found = new Map<string, Work>();
  for (const job of jobs) {
    for (const [id, inner] of job.definition.work.references) found.set(id, inner);
    found.set(job.id, job.definition.work);
  }
  return found;
}

export function command(text: string, seconds: number, failureChance = 0.002, more: Partial<Step> = {}): Step {
  return { kind: 'exec', text, nodeStep: true, seconds, failureChance, ...more };
}

export function reference(job: Job, nodeStep = false): Step {
  return { kind: 'jobref', text: job.id, nodeStep, seconds: 0, failureChance: 0 };
}

/** Returns a schedule whose offset depends on a name. */
export function every(minutes: number, name: string): Schedule {
  const everyMs = Math.round(minutes * 60_000);
  return { everyMs, offsetMs: toSeed(name) % everyMs };
}

function toNode(name: string): NodeResource {
  return {
    nodename: name,
    hostname: `${name}.example.org`,
    username: 'auto',
    osFamily: 'unix',
    osName: 'Linux',
    osArch: 'amd64',
    osVersion: '6.1',
    description: `The node ${name}`,
    tags: name.startsWith('db') ? 'db, storage' : 'app',
  };
}
