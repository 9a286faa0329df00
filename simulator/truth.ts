import { type Execution, endedAt, startedAt, toStatus } from './world/installation.ts';
import type { World } from './world/world.ts';

/** The true course of one execution, whatever the API says about it. */
export type TrueExecution = {
  readonly id: number;
  readonly project: string;
  readonly jobId: string | undefined;
  readonly jobName: string | undefined;
  readonly jobGroup: string | undefined;
  readonly type: string | null;
  readonly user: string;
  readonly member: string;
  readonly attempt: number;
  readonly retriedById: number | undefined;
  readonly status: string;
  readonly customStatus: string | undefined;
  /** As its member's clock says. */
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
  /** Nodes by how they ended; none while it is not over. */
  readonly succeededNodes: readonly string[];
  readonly failedNodes: readonly string[];
  /** True time at which the end could be read for the first time; undefined while it cannot. */
  readonly visibleAtMs: number | undefined;
  readonly deletedAtMs: number | undefined;
};

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

function toTrue(execution: Execution, atMs: number): TrueExecution {
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
    startedAtMs: startedAt(execution),
    endedAtMs: end === undefined ? undefined : endedAt(execution),
    succeededNodes: end?.succeededNodes ?? [],
    failedNodes: end?.failedNodes ?? [],
    visibleAtMs: ended ? end?.visibleAtMs : undefined,
    deletedAtMs,
  };
}
