import type { Finished } from '../domain/execution.ts';
import type { CommitHook, LedgerDocument } from '../state/ledger.ts';
import { noteRuns } from './deciding/notes.ts';
import type { WatchedJob } from './deciding/watched-job.ts';
import { toJobDocument, toNodeDocument, toNotedDocument } from './documents.ts';
import { createNodeNotes, type FailingNode, type FailingNodes, type NodeChanges, noteUsual } from './risks/nodes.ts';
import { toSeenRuns } from './seen-runs.ts';

type Recorded = {
  readonly all: Map<string, WatchedJob>;
  readonly nodes: Map<string, FailingNode>;
  readonly noted: { throughMs: number };
  readonly isBeginning: () => boolean;
  readonly serverNowMs: () => number;
};

/** For each transaction that counts runs, records the runs of jobs with undecided times, and the nodes of all runs. */
export function createRunNotes({ all, nodes, noted, isBeginning, serverNowMs }: Recorded): CommitHook {
  // While jobs that are watched anew are not stored yet, the time of the last recorded run is not stored either. If the process
  // crashes before the commit, these jobs are watched anew again.
  const toNoted = (): LedgerDocument[] => (isBeginning() ? [] : [toNotedDocument(noted.throughMs)]);
  const pending = new WeakMap<readonly unknown[], { jobs: readonly WatchedJob[]; changed: NodeChanges }>();
  const findChanged = createNodeNotes();
  return {
    keep: (project, runs) => {
      const jobs: WatchedJob[] = [];
      const byJob = Map.groupBy(runs, ({ job }) => job?.id);
      for (const [id, ended] of toSeenRuns(runs)) {
        const job = all.get(id);
        const later = job && noteNodesOf(noteRuns(job, ended), byJob.get(id) ?? []);
        if (later !== undefined && later !== job) jobs.push(later);
      }
      const nowMs = serverNowMs();
      // A future-dated run gets the present time, because its own date would hide later runs.
      const ended = runs.map((run) => ({ ...run, project, endedAtMs: Math.min(run.endedAtMs, nowMs) }));
      const changed = findChanged(nodes, ended);
      pending.set(runs, { jobs, changed });
      noted.throughMs = Math.max(noted.throughMs, ...runs.map(({ endedAtMs }) => endedAtMs));
      const nodeDocuments = [...changed].map(([node, failing]) => toNodeDocument(node, failing));
      return [...jobs.map(toJobDocument), ...nodeDocuments, ...toNoted()];
    },
    readThrough: (endedAtMs) => {
      if (endedAtMs <= noted.throughMs) return [];
      noted.throughMs = endedAtMs;
      return toNoted();
    },
    kept: (_project, runs) => {
      const { jobs = [], changed = [] } = pending.get(runs) ?? {};
      for (const job of jobs) all.set(job.id, job);
      for (const [node, failing] of changed) {
        if (failing === undefined) nodes.delete(node);
        else nodes.set(node, failing);
      }
    },
  };
}

function noteNodesOf(job: WatchedJob, runs: readonly Finished[]): WatchedJob {
  let { nodes } = job;
  for (const run of runs) nodes = noteUsual(nodes, run);
  return nodes === undefined || nodes === job.nodes ? job : { ...job, nodes };
}

/** The stored nodes with failures. A node that may work again is removed with the next commit. */
export function createKeptNodes() {
  const all = new Map<string, FailingNode>();
  let stale: readonly string[] = [];
  return {
    all,
    /** `isUnnoted` is true if counted runs may not be recorded; then any of the nodes may work again. */
    load: ({ nodes, isUnnoted }: { readonly nodes: FailingNodes; readonly isUnnoted: boolean }): void => {
      if (isUnnoted) stale = [...nodes.keys()];
      else for (const [node, failing] of nodes) all.set(node, failing);
    },
    toForgotten: (): LedgerDocument[] =>
      stale.filter((node) => !all.has(node)).map((node) => toNodeDocument(node, undefined)),
    settle: (): void => {
      stale = [];
    },
  };
}
