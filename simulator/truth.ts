import { type Execution, endedAt, startedAt, toStatus } from './world/installation.ts';
import type { World } from './world/world.ts';

export type Truth = {
  readonly executionMode: 'active' | 'passive';
  /** Finished ones in the order in which they became visible, then the open ones by id. */
  readonly executions: readonly TrueExecution[];
};

/** Everything the simulator remembers; with `retained: Infinity` that is everything there was. */
export function tellTruth(world: World): Truth {
  const open = [...world.executions.values()]
    .filter((execution) => !execution.ended)
    .sort((one, other) => one.id - other.id);
  return {
    executionMode: world.executionMode,
    executions: [...world.history, ...open].map((execution) => toTrue(execution, world.playedMs)),
  };
}

/** The true course of one execution, whatever the API says about it. */
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
    /** As its member's clock says. */
    startedAtMs: startedAt(execution),
    endedAtMs: end === undefined ? undefined : endedAt(execution),
    /** Nodes by how they ended; none while it is not over. */
    succeededNodes: end?.succeededNodes ?? [],
    failedNodes: end?.failedNodes ?? [],
    /** True time at which the end could be read for the first time; undefined while it cannot. */
    visibleAtMs: ended ? end?.visibleAtMs : undefined,
    deletedAtMs,
  };
}
