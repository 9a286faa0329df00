import { type Execution, endedAt, startedAt, toStatus } from './world/installation.ts';
import type { World } from './world/world.ts';

export type Truth = {
  readonly executionMode: 'active' | 'passive';
  /** The executions: finished executions in the order in which they became visible, then open executions by id. */
  readonly executions: readonly TrueExecution[];
};

/** Returns everything that the simulator keeps. With `retained: Infinity`, the simulator keeps everything that happened. */
export function tellTruth(world: World): Truth {
  const open = [...world.executions.values()]
    .filter((execution) => !execution.ended)
    .sort((one, other) => one.id - other.id);
  return {
    executionMode: world.executionMode,
    executions: [...world.history, ...open].map((execution) => toTrue(execution, world.playedMs)),
  };
}

/** The true course of one execution, whatever the API shows. */
export type TrueExecution = Readonly<ReturnType<typeof toTrue>>;

function toTrue(execution: Execution, atMs: number) {
  const { id, project, job, type, user, member, attempt, retriedBy, end, ended, deletedAtMs } = execution;
  const status = toStatus(execution, atMs);
  return {
    id,
    project: project.name,
    jobId: job?.id,
    jobName: job?.definition.name,
    jobGroup: job?.definition.group,
    type,
    user,
    member: member.name,
    attempt,
    retriedById: retriedBy?.id,
    status,
    customStatus: status === 'other' ? end?.stored : undefined,
    /** The start by the clock of the member that ran the execution. */
    startedAtMs: startedAt(execution),
    endedAtMs: end === undefined ? undefined : endedAt(execution),
    /** Nodes by result; none until the execution has ended. */
    succeededNodes: end?.succeededNodes ?? [],
    failedNodes: end?.failedNodes ?? [],
    /** The true time at which the end first became readable; undefined before. */
    visibleAtMs: ended ? end?.visibleAtMs : undefined,
    deletedAtMs,
  };
}
