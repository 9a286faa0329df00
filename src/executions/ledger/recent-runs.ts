import type { Ending, Finished } from '../../domain/execution.ts';
import { toEnding, toJobName } from '../counting/naming.ts';

export type RecentRun = {
  readonly id: number;
  readonly project: string;
  readonly group: string;
  readonly name: string;
  /** The id of the job; absent for ad hoc runs and runs of earlier releases. */
  readonly jobId?: string;
  readonly ending: Ending;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** The names of some failed nodes; absent without failed nodes, and for runs of earlier releases. */
  readonly failedNodes?: readonly string[];
  /** The number of failed nodes. Set if `failedNodes` does not list all nodes. */
  readonly failedNodeCount?: number;
};

export function toRecent(project: string, run: Finished): RecentRun {
  const { id, startedAtMs, endedAtMs, failedNodes: all, job } = run;
  const jobId = job?.id === undefined ? {} : { jobId: job.id };
  const failedNodes = all.slice(0, maxNodes);
  const nodes = all.length === 0 ? {} : { failedNodes };
  const count = all.length > maxNodes ? { failedNodeCount: all.length } : {};
  return {
    id,
    project,
    ...toJobName(run),
    ...jobId,
    ending: toEnding(run),
    startedAtMs,
    endedAtMs,
    ...nodes,
    ...count,
  };
}

/** The maximum number of failed nodes to store. A run that fails on more nodes does not point to a single node. */
const maxNodes = 5;

/** Recent runs by document. Recent runs are stored in several documents, so that a new run does not rewrite all others. */
export type RecentSheets = ReadonlyMap<string, readonly RecentRun[]>;

type RecentChange = {
  readonly sheets: RecentSheets;
  /** The keys of the documents to write. Empty documents are removed. */
  readonly written: readonly string[];
  readonly forgotten: readonly string[];
};

export function toNewest(sheets: RecentSheets, latestMs: number): readonly RecentRun[] {
  return rank(sheets, latestMs).map(({ run }) => run);
}

type Ranked = EndOfRun & { readonly run: RecentRun };

/** Sorts runs by end. The end of a future-dated run is replaced by the latest end of the runs that were stored before it. */
function rank(sheets: RecentSheets, latestMs: number): readonly Ranked[] {
  let reachedMs = Number.NEGATIVE_INFINITY;
  const inOrder = [...sheets].sort(([one], [other]) => toNumber(one) - toNumber(other)).flatMap(([, runs]) => runs);
  const ranked = inOrder.map((run) => {
    if (run.endedAtMs > latestMs) return { run, id: run.id, endedAtMs: reachedMs };
    reachedMs = Math.max(reachedMs, run.endedAtMs);
    return { run, id: run.id, endedAtMs: run.endedAtMs };
  });
  return ranked.sort(byEnd).slice(0, maxRecent);
}

/** Adds the newest of the given runs to the last document. If the last document is full, adds new documents. */
export function addRecent(sheets: RecentSheets, more: readonly RecentRun[], latestMs: number): RecentChange {
  const oldest = more.length === 0 ? undefined : rank(sheets, latestMs)[maxRecent - 1];
  const added = more
    .filter((run) => oldest === undefined || byEnd(run, oldest) < 0)
    .sort(byEnd)
    .slice(0, maxRecent);
  if (added.length === 0) return { sheets, written: [], forgotten: [] };
  const next = new Map(sheets);
  const written = new Set<string>();
  let last = Math.max(0, ...[...sheets.keys()].map(toNumber));
  for (const run of added.reverse()) {
    const before = next.get(String(last)) ?? [];
    if (before.length >= maxOfSheet) last += 1;
    next.set(String(last), [...(before.length >= maxOfSheet ? [] : before), run]);
    written.add(String(last));
  }
  const shown = new Set(toNewest(next, latestMs));
  const forgotten = [...next].flatMap(([key, runs]) => (runs.some((run) => shown.has(run)) ? [] : [key]));
  for (const key of forgotten) {
    next.delete(key);
    written.delete(key);
  }
  return { sheets: next, written: [...written], forgotten };
}

/** The number of finished executions that pages can show. */
const maxRecent = 1000;
const maxOfSheet = 50;

/** Returns the number in the key of a document. Earlier releases stored each run under a key without a number. */
function toNumber(key: string): number {
  return /^\d+$/.test(key) ? Number(key) : 0;
}

function byEnd(one: EndOfRun, other: EndOfRun): number {
  return other.endedAtMs - one.endedAtMs || other.id - one.id;
}

type EndOfRun = Pick<RecentRun, 'endedAtMs' | 'id'>;
