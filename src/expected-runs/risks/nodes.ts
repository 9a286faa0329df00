import type { Execution } from '../../domain/execution.ts';
import { toJobPath } from '../../domain/job.ts';

export type FailingNode = {
  readonly node: string;
  readonly sinceMs: number;
  readonly lastMs: number;
  /** The paths of the first jobs that failed. */
  readonly jobs: readonly string[];
};

export type FailingNodes = ReadonlyMap<string, FailingNode>;

type Run = Pick<Execution, 'status' | 'project' | 'job' | 'succeededOn' | 'failedNodes'> & {
  readonly endedAtMs: number;
};

/** The changed nodes. The value is undefined for a node that works again, or whose last failure was long ago. */
export type NodeChanges = ReadonlyMap<string, FailingNode | undefined>;

/** Returns a function that applies finished runs in any order and returns the changed nodes. */
export function createNodeNotes(): (known: FailingNodes, runs: readonly Run[]) => NodeChanges {
  const succeededMs = new Map<string, number>();
  return (known, runs) => {
    if (succeededMs.size > maxNodesKept) succeededMs.clear();
    return noteNodes(known, runs, succeededMs);
  };
}

const maxNodesKept = 20_000;

function noteNodes(known: FailingNodes, runs: readonly Run[], succeededMs: Map<string, number>): NodeChanges {
  const changed = new Map<string, FailingNode | undefined>();
  const find = (node: string) => (changed.has(node) ? changed.get(node) : known.get(node));
  for (const run of runs.filter(isFinal).sort((one, other) => one.endedAtMs - other.endedAtMs)) {
    for (const node of run.succeededOn ?? []) {
      succeededMs.set(node, Math.max(succeededMs.get(node) ?? 0, run.endedAtMs));
      const failing = find(node);
      if (failing !== undefined && failing.lastMs <= run.endedAtMs) changed.set(node, undefined);
    }
    for (const node of run.failedNodes)
      if (run.endedAtMs > (succeededMs.get(node) ?? 0)) changed.set(node, addFailure(find(node), node, run));
  }
  const nowMs = Math.max(...runs.map(({ endedAtMs }) => endedAtMs));
  for (const [node, { lastMs }] of known)
    if (lastMs < nowMs - quietMs && !changed.has(node)) changed.set(node, undefined);
  return changed;
}

/** Reports whether a run says something about its nodes. Aborted runs and retried attempts say nothing. */
function isFinal({ status }: Run): boolean {
  return status !== 'aborted' && status !== 'failed-with-retry' && status !== 'missed';
}

function addFailure(before: FailingNode | undefined, node: string, { project = '', job, endedAtMs }: Run): FailingNode {
  const { sinceMs = endedAtMs, lastMs = endedAtMs, jobs = [] } = before ?? {};
  const path = toJobPath({ project, group: job?.group ?? '', name: job?.name ?? '' });
  return {
    node,
    sinceMs: Math.min(sinceMs, endedAtMs),
    lastMs: Math.max(lastMs, endedAtMs),
    jobs: jobs.includes(path) || jobs.length >= maxJobs ? jobs : [...jobs, path],
  };
}

/** Returns the nodes whose failures began up to the given time. The success after a recent failure may not have been read yet. */
export function listSettled(nodes: FailingNodes, throughMs: number): FailingNodes {
  return new Map([...nodes].filter(([, { sinceMs }]) => sinceMs <= throughMs));
}

const maxJobs = 10;
const quietMs = 8 * 86_400_000;

/**
 * Returns the jobs that prove that a node fails: several failed jobs, without a later success. A job is no proof if it already
 * failed before the node began to fail, while other jobs succeeded on the node. `failsSinceMs` returns the end of the first of
 * a job's consecutive failures.
 */
export function findWitnesses(
  { jobs, sinceMs }: FailingNode,
  failsSinceMs: (path: string) => number | undefined,
): readonly string[] {
  const witnesses = jobs.filter((path) => (failsSinceMs(path) ?? sinceMs) >= sinceMs);
  return witnesses.length < 2 ? [] : witnesses;
}

/** For each usual node, the number of further runs for which the node still counts as usual. */
type UsualNodes = Readonly<Record<string, number>>;

/** Returns the usual nodes of a job: the nodes of its last five runs, including the given run. */
export function noteUsual(
  before: UsualNodes | undefined,
  { succeededOn = [], failedNodes }: Run,
): UsualNodes | undefined {
  const nodes = [...new Set([...succeededOn, ...failedNodes])].slice(0, maxNodes);
  if (nodes.length === 0) return before;
  const own = new Set(nodes);
  const known = Object.entries(before ?? {});
  const others = known.flatMap(([node, left]): [string, number][] =>
    left > 1 && !own.has(node) ? [[node, left - 1]] : [],
  );
  const isSame = known.length === nodes.length && known.every(([node, left]) => left === usualFor && own.has(node));
  if (isSame) return before;
  return Object.fromEntries([...nodes.map((node): [string, number] => [node, usualFor]), ...others].slice(0, maxNodes));
}

const usualFor = 5;

/** Reports whether a node was in the last run, which set its number of further runs to the maximum. */
export function isOfLastRun(left: number): boolean {
  return left === usualFor;
}

const maxNodes = 100;
