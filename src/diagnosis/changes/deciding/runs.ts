/** How a run was started, and where it ran. Texts that may be secret are hashed. */
export type RunFacts = {
  readonly id: number;
  readonly startedAtMs: number;
  readonly trigger: string;
  readonly arguments?: string;
  readonly user?: string;
  readonly memberUuid?: string;
  /** The first nodes by name; absent if unknown. */
  readonly nodes?: readonly string[];
  readonly nodeCount?: number;
};

export type JobRuns = {
  readonly success?: RunFacts;
  /** The first failure since the last success. */
  readonly failure?: RunFacts;
  /** The last result of the job; absent in states of earlier releases. */
  readonly last?: CountedRun;
};

/** A counted run, and the factors that it may share with other runs. */
export type CountedRun = {
  readonly project: string;
  readonly job: string;
  readonly jobId: string | undefined;
  readonly endedAtMs: number;
  readonly isFailed: boolean;
  readonly failedNodes: readonly string[];
  /**
   * The first failure, if the previous run failed too. It is explained instead of this run, because how a failing job was
   * started again explains nothing.
   */
  readonly first?: RunFacts;
  readonly facts: RunFacts;
};

/** Adds a run. `isFirst` is true for the first failure after a success. */
export function noteRun(
  known: JobRuns,
  run: RunFacts,
  isSuccess: boolean,
): { readonly runs: JobRuns; readonly isFirst: boolean } {
  const { success, failure } = known;
  if (isSuccess) {
    if (success !== undefined && success.startedAtMs >= run.startedAtMs) return { runs: known, isFirst: false };
    const isOver = failure === undefined || failure.startedAtMs < run.startedAtMs;
    return { runs: { success: run, ...(isOver ? {} : { failure }) }, isFirst: false };
  }
  const isOfSpan = success !== undefined && run.startedAtMs > success.startedAtMs;
  if (!isOfSpan || failure !== undefined) return { runs: known, isFirst: false };
  return { runs: { success, failure: run }, isFirst: true };
}

/** Describes how a run differs from the last success. Returns an empty text if there is no difference. */
export function toRunText(success: RunFacts, failure: RunFacts): string {
  const differs = (one: string | undefined, other: string | undefined): boolean =>
    one !== undefined && other !== undefined && one !== other;
  return [
    ...(differs(success.arguments, failure.arguments) ? ['arguments'] : []),
    ...(differs(success.user, failure.user) ? ['user'] : []),
    ...(differs(success.trigger, failure.trigger) ? [`trigger ${failure.trigger}, was ${success.trigger}`] : []),
    ...(differs(success.memberUuid, failure.memberUuid) ? ['member'] : []),
    ...toNodeDifference(success, failure),
  ].join('; ');
}

function toNodeDifference({ nodes: before, nodeCount }: RunFacts, { nodes: after, ...failure }: RunFacts): string[] {
  if (before === undefined || after === undefined || nodeCount !== failure.nodeCount) return [];
  const added = after.filter((node) => !before.includes(node));
  // Missing nodes are not compared, because the nodes of a run do not include nodes that it did not reach.
  return added.length === 0
    ? []
    : [`ran on ${added.slice(0, maxNamed).join(', ')}, was ${before.slice(0, maxNamed).join(', ')}`];
}

const maxNamed = 3;
