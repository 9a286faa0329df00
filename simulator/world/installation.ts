import type { WorkflowRun } from '../engine/plan.ts';
import { toUuid } from '../random.ts';
import type { Conditions, JobDefinition, Work } from './work.ts';

export type NodeResource = Readonly<Record<string, string>>;

export type Project = {
  name: string;
  description: string;
  label: string;
  readonly createdAtMs: number;
  disabled: boolean;
  deleted: boolean;
  executionsEnabled: boolean;
  scheduleEnabled: boolean;
  readonly config: Map<string, string>;
  nodes: ReadonlyMap<string, NodeResource>;
  readonly jobs: Map<string, Job>;
  /** Running, waiting and future executions by id. */
  readonly open: Map<number, Execution>;
  readonly completed: Completed;
};

/** The finished executions of one project in order of completion. */
export type Completed = {
  add(execution: Execution): void;
  remove(gone: ReadonlySet<Execution>): void;
  /** Returns the executions that completed within the closed window, newest first. */
  between(beginMs: number, endMs: number): Iterable<Execution>;
  count(beginMs: number, endMs: number): number;
  readonly size: number;
};

export type Job = {
  readonly id: string;
  readonly project: Project;
  definition: JobDefinition;
  enabled: boolean;
  scheduleEnabled: boolean;
  owner: Member | undefined;
  /** The number of schedule changes; triggers with an earlier number are void. */
  generation: number;
  /** The count and sum of durations for the average. The count is at most 10. */
  readonly statistics: { count: number; totalMs: number };
  readonly createdAtMs: number;
  /** The time at which the job was last saved or switched. */
  modifiedAtMs: number;
};

export function createJob(project: Project, definition: JobDefinition, owner: Member, id?: string): Job {
  return {
    id: id ?? toUuid('job', project.name, definition.group ?? '', definition.name),
    project,
    definition,
    enabled: definition.enabled ?? true,
    scheduleEnabled: definition.scheduleEnabled ?? true,
    owner: definition.schedule === undefined ? undefined : owner,
    generation: 0,
    statistics: { count: 0, totalMs: 0 },
    createdAtMs: project.createdAtMs,
    modifiedAtMs: project.createdAtMs,
  };
}

export function averageDuration({ statistics: { count, totalMs } }: Job): number {
  return count === 0 ? 0 : Math.floor(totalMs / count);
}

export function maySchedule(job: Job): boolean {
  const { project } = job;
  return (
    job.definition.schedule !== undefined &&
    job.enabled &&
    job.scheduleEnabled &&
    !project.disabled &&
    !project.deleted &&
    project.executionsEnabled &&
    project.scheduleEnabled
  );
}

/** One server of the installation, with its own clock, uptime and counters. */
export type Member = {
  readonly uuid: string;
  readonly name: string;
  skewMs: number;
  /** The earlier clocks of the member, oldest first, each with the true time at which it was set. */
  readonly earlierSkews: { readonly untilMs: number; readonly skewMs: number }[];
  startedAtMs: number;
  alive: boolean;
  /** The time until which the member answers 503 with an empty body. */
  readyAtMs: number;
  readonly threadPoolSize: number;
  /** Scheduler threads in use, and the runs that wait for a thread. */
  busy: number;
  readonly waiting: Waiting[];
} & ReturnType<typeof createCounters>;

function createCounters() {
  return {
    storage: { succeeded: 0, failed: 0, total: 0, retries: 0 },
    meters: { started: 0, succeeded: 0, failed: 0, aborted: 0, requests: 0 },
  };
}

/** A scheduled run is created by its thread. The run of a user exists already and waits. */
type Waiting = { readonly start: Start; readonly execution: Execution | undefined };

export function createMember(name: string, uuid: string, startedAtMs: number, threadPoolSize: number): Member {
  return {
    uuid,
    name,
    skewMs: 0,
    earlierSkews: [],
    startedAtMs,
    alive: true,
    readyAtMs: startedAtMs,
    threadPoolSize,
    busy: 0,
    waiting: [],
    ...createCounters(),
  };
}

/** Sets the clock of a member at a true time. */
export function setSkew(member: Member, skewMs: number, atMs: number): void {
  member.earlierSkews.push({ untilMs: atMs, skewMs: member.skewMs });
  member.skewMs = skewMs;
}

/** Starts a server again, with its in-memory counters at 0. */
export function restartMember(member: Member, atMs: number, downForMs: number): void {
  member.startedAtMs = atMs + downForMs;
  member.readyAtMs = atMs + downForMs;
  member.alive = true;
  member.busy = 0;
  member.waiting.length = 0;
  Object.assign(member, createCounters());
}

/** A request to run something, before there is an execution. */
export type Start = {
  readonly project: Project;
  readonly job: Job | undefined;
  readonly work: Work;
  readonly type: ExecutionType;
  readonly user: string;
  readonly options: Readonly<Record<string, string>>;
  readonly attempt: number;
  readonly delayMs: number;
};

export function startOfJob(job: Job, type: ExecutionType, user: string, given?: Start['options']): Start {
  const { project, definition } = job;
  const options = { ...definition.options, ...given };
  return { project, job, work: definition.work, type, user, options, attempt: 0, delayMs: 0 };
}

export function startOfCommand(project: Project, work: Work, user: string): Start {
  return { project, job: undefined, work, type: 'user', user, options: {}, attempt: 0, delayMs: 0 };
}

export const executionTypes = ['user', 'scheduled', 'user-scheduled'] as const;
export type ExecutionType = (typeof executionTypes)[number];

/** The status in the server's database, which determines the shown status. */
export type StoredStatus = 'succeeded' | 'failed' | 'aborted' | 'incomplete' | 'missed' | (string & {});

type ExecutionEnd = {
  readonly atMs: number;
  readonly visibleAtMs: number;
  readonly stored: StoredStatus;
  readonly timedOut: boolean;
  readonly abortedBy: string | undefined;
  readonly succeededNodes: readonly string[];
  readonly failedNodes: readonly string[];
};

/** One run. Times are true times; answers show times by the clock of the member. `skewMs` is the skew at the start of the run. */
export type Execution = {
  readonly id: number;
  readonly project: Project;
  readonly job: Job | undefined;
  readonly work: Work;
  readonly conditions: Conditions;
  readonly seed: number;
  readonly member: Member;
  readonly skewMs: number;
  readonly type: ExecutionType | null;
  readonly user: string;
  readonly options: Readonly<Record<string, string>>;
  readonly attempt: number;
  readonly oneTime: boolean;
  /**
   * The time at which the run counts as started. Its first step begins at `workAtMs`: later, if a retry is delayed or
   * all threads are busy.
   */
  readonly startedAtMs: number;
  workAtMs: number;
  /** The time at which the member disappeared. The run makes no more progress. */
  lostAtMs: number | undefined;
  end: ExecutionEnd | undefined;
  /** True once the end is visible. Before, the server shows the run as running, because the server stores the end later. */
  ended: boolean;
  retriedBy: Execution | undefined;
  jobDeleted: boolean;
  deletedAtMs: number | undefined;
  /** The duration to which the plan of an added run is scaled. */
  readonly fitMs: number | undefined;
  /** The plan, while the run lasts. After the run, the seed gives the same plan again. */
  plan: WorkflowRun | undefined;
};

/** Returns the status that the server shows. `atMs` is the true time of the request. */
export function toStatus(execution: Execution, atMs: number): string {
  const end = execution.ended ? execution.end : undefined;
  if (end?.abortedBy !== undefined) return 'aborted';
  if (execution.startedAtMs > atMs) return 'scheduled';
  if (end === undefined) return 'running';
  if (end.stored === 'succeeded') return 'succeeded';
  if (execution.retriedBy !== undefined || end.stored === 'failed-with-retry') return 'failed-with-retry';
  if (end.timedOut) return 'timedout';
  return ['failed', 'missed'].includes(end.stored) ? end.stored : 'other';
}

/** Returns the job of an execution, if the job still exists. */
export function jobOf({ job, jobDeleted }: Pick<Execution, 'job' | 'jobDeleted'>): Job | undefined {
  return jobDeleted ? undefined : job;
}

export function endedAt(execution: Execution): number {
  return toShown(execution, execution.end?.atMs ?? 0);
}

/**
 * Returns a real time as the clock of the server shows it. Each start and end of a step has the time that the clock
 * showed at that moment.
 */
export function toShown({ fitMs, skewMs, member, startedAtMs }: Execution, atMs: number): number {
  if (fitMs !== undefined) return atMs + skewMs;
  // Events before a change of the clock keep their times.
  const earlier = member.earlierSkews.find(
    ({ untilMs }) => atMs < untilMs || (atMs === untilMs && startedAtMs < untilMs),
  );
  return atMs + (earlier ?? member).skewMs;
}

export function startedAt(execution: Execution): number {
  return execution.startedAtMs + execution.skewMs;
}
