import * as z from 'zod';
import { scheduleAgain } from './engine/engine.ts';
import { deleteExecutions, endExecution } from './engine/finish.ts';
import { type FinishedRun, insertFinished } from './engine/insert.ts';
import { requestLater, requestStart } from './engine/start.ts';
import { addJob, addProject, command, work } from './scenarios/build.ts';
import { executionTypes, type Job, type Project, startOfCommand, startOfJob } from './world/installation.ts';
import { writeKey } from './world/keys.ts';
import type { JobDefinition } from './world/work.ts';
import type { World } from './world/world.ts';

/** Changes of projects, jobs and executions, as people and imports make them. */
export function createEstateControl(world: World, play: () => void) {
  return {
    ...createProjectControl(world, play),
    ...createKeyControl(world, play),
    ...createJobControl(world, play),
    ...createExecutionControl(world, play),
  };
}

function createProjectControl(world: World, play: () => void) {
  return {
    createProject(name: string, nodes: readonly string[] = ['node01']): void {
      play();
      addProject(world, name, nodes);
    },
    changeProject(name: string, change: ProjectChange): void {
      play();
      Object.assign(findProject(world, name), change);
    },
    /** Sets one entry in the configuration of a project; undefined removes it. */
    setProjectConfig(name: string, key: string, value: string | undefined): void {
      play();
      const { config } = findProject(world, name);
      if (value === undefined) config.delete(key);
      else config.set(key, value);
    },
    renameProject(name: string, newName: string): void {
      play();
      const project = findProject(world, name);
      world.projects.delete(name);
      project.name = newName;
      world.projects.set(newName, project);
    },
    deleteProject(name: string): void {
      play();
      findProject(world, name).deleted = true;
      world.projects.delete(name);
    },
  };
}

function createKeyControl(world: World, play: () => void) {
  return {
    /** Writes a key. Nodes refuse logins with a wrong key. */
    writeKey(path: string, { user = 'someone', isWrong = false } = {}): void {
      play();
      writeKey(world.keys, path, user, world.playedMs);
      const others = world.conditions.refusedKeys.filter((key) => key !== path);
      world.conditions = { ...world.conditions, refusedKeys: isWrong ? [...others, path] : others };
    },
    deleteKey(path: string): void {
      play();
      world.keys.delete(path);
    },
  };
}

function createJobControl(world: World, play: () => void) {
  return {
    /** Creates a job and returns its id. Without `work` the job runs one short command on the nodes of the project. */
    createJob(projectName: string, definition: NewJob, id?: string): string {
      play();
      const project = findProject(world, projectName);
      return addJob(world, project, { ...definition, work: definition.work ?? shortWork(project) }, id).id;
    },
    changeJob(id: string, change: JobChange): void {
      play();
      const job = findJob(world, id);
      const { enabled = job.enabled, scheduleEnabled = job.scheduleEnabled, ...definition } = change;
      const modifiedAtMs = world.playedMs;
      Object.assign(job, { enabled, scheduleEnabled, modifiedAtMs, definition: { ...job.definition, ...definition } });
      scheduleAgain(world, job, world.playedMs);
    },
    deleteJob(id: string): void {
      play();
      const job = findJob(world, id);
      job.generation += 1;
      job.project.jobs.delete(id);
      world.jobs.delete(id);
      for (const execution of world.executions.values()) execution.jobDeleted ||= execution.job === job;
    },
  };
}

function createExecutionControl(world: World, play: () => void) {
  return {
    /** Starts a job now, or once at a later time. Returns undefined if the server refuses. */
    runJob(id: string, options: z.infer<typeof runSchema> = {}): number | undefined {
      play();
      const start = startOfJob(findJob(world, id), options.type ?? 'user', options.user ?? 'someone', options.options);
      const execution =
        options.atMs === undefined
          ? requestStart(world, start, world.playedMs)
          : requestLater(world, start, options.atMs);
      return execution?.id;
    },
    runCommand(projectName: string, text: string, user = 'someone'): number | undefined {
      play();
      const project = findProject(world, projectName);
      const steps = [command(text, 2, 0)];
      return requestStart(world, startOfCommand(project, work([...project.nodes.keys()], steps), user), world.playedMs)
        ?.id;
    },
    abort(id: number, user = 'someone'): void {
      play();
      const execution = world.executions.get(id);
      if (execution !== undefined && execution.end === undefined) {
        endExecution(world, execution, { atMs: world.playedMs, stored: 'aborted', timedOut: false, abortedBy: user });
      }
    },
    /** Adds a finished execution with given times, such as an import. */
    addFinished(projectName: string, run: NewFinished): number {
      play();
      const project = findProject(world, projectName);
      const job = run.jobId === undefined ? undefined : findJob(world, run.jobId);
      const { jobId: _, ...finished } = run;
      return insertFinished(world, { ...finished, project, job, work: job?.definition.work ?? shortWork(project) }).id;
    },
    deleteExecutions(ids: readonly number[]): void {
      play();
      deleteExecutions(
        world,
        ids.flatMap((id) => world.executions.get(id) ?? []),
      );
    },
  };
}

type ProjectChange = Partial<
  Pick<Project, 'description' | 'label' | 'disabled' | 'executionsEnabled' | 'scheduleEnabled' | 'nodes'>
>;
type NewJob = Omit<JobDefinition, 'work'> & Partial<Pick<JobDefinition, 'work'>>;
type JobChange = Partial<JobDefinition>;
export const runSchema = z
  .strictObject({
    user: z.string(),
    type: z.enum(executionTypes),
    options: z.record(z.string(), z.string()),
    atMs: z.number(),
  })
  .exactPartial();

type NewFinished = Omit<FinishedRun, 'project' | 'job' | 'work'> & { readonly jobId?: string };

function shortWork(project: Project) {
  return work([...project.nodes.keys()], [command('true', 2, 0)]);
}

function findProject(world: World, name: string): Project {
  const project = world.projects.get(name);
  if (project === undefined) throw new Error(`The simulated service has no project "${name}".`);
  return project;
}

function findJob(world: World, id: string): Job {
  const job = world.jobs.get(id);
  if (job === undefined) throw new Error(`The simulated service has no job "${id}".`);
  return job;
}
