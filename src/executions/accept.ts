import type { Execution } from '../domain/execution.ts';
import type { Ledger, LedgerDocument, LedgerEntry } from '../state/ledger.ts';
import type { Book, BookChange } from './book.ts';
import { type MeasureRules, measure, type UnmeasuredReason } from './measure.ts';
import { toEnding, toJobName } from './naming.ts';
import type { ProjectState } from './project-state.ts';
import { planPrune } from './prune.ts';
import type { RecentRun } from './recent-runs.ts';
import { type Finished, reconcile as reconcileRows } from './reconcile.ts';

/** What becomes of rows, for the daemon's own counters. */
export type ExecutionsObserver = {
  readonly observed: (executions: number) => void;
  readonly late: (executions: number) => void;
  readonly imported: (executions: number) => void;
  readonly unmeasured: (reason: UnmeasuredReason, executions: number) => void;
  readonly skipped: (reason: string, executions: number) => void;
  readonly dropped: (reason: 'merged' | 'cap', series: number) => void;
  readonly unknownValue: (field: string) => void;
};

/** Somebody who keeps something of counted executions in the transaction that counts them, and hears when it is done. */
export type Companion = {
  readonly keep: (project: string, runs: readonly Finished[], epoch: number) => readonly LedgerDocument[];
  readonly kept: (project: string, runs: readonly Finished[]) => void;
};

export type AcceptOptions = {
  readonly server: string;
  readonly book: Book;
  readonly ledger: Ledger;
  readonly rules: MeasureRules;
  readonly isWantedJob: (jobPath: string) => boolean;
  readonly observe: ExecutionsObserver;
  /** How long ids are known. */
  readonly keepMs: number;
  readonly companion?: Companion | undefined;
  readonly reconcile?: typeof reconcileRows;
};

export type Acceptance = {
  readonly project: string;
  readonly rows: readonly Execution[];
  /** What is known of the project once these rows are in the ledger. */
  readonly advance?: (state: ProjectState) => ProjectState;
  /** What ended before this should have been found before. */
  readonly lateBeforeMs?: number;
};

/** Commit 1 of the life of an execution: rows become known and count, in one transaction with how far the project is read. */
export function createAccept(options: AcceptOptions): (acceptance: Acceptance) => Promise<readonly Finished[]> {
  const { server, book, ledger, rules, isWantedJob, observe, keepMs, companion, reconcile = reconcileRows } = options;

  /** What ended before what is pruned is never counted again. */
  async function prune(state: ProjectState): Promise<ProjectState> {
    const countedFromMs = await planPrune(ledger, server, state, state.scannedThroughMs - keepMs);
    return countedFromMs === state.countedFromMs ? state : { ...state, countedFromMs };
  }

  return async ({ project, rows, advance, lateBeforeMs = Number.NEGATIVE_INFINITY }) => {
    let counted: readonly Finished[] = [];
    let tell = (): void => {};
    await book.update(async (): Promise<BookChange | undefined> => {
      const state = book.states.get(project);
      if (state === undefined) return undefined;
      const finished = rows.filter(({ endedAtMs }) => endedAtMs !== undefined);
      const known = byId(await ledger.find(server, [...new Set(finished.map(({ id }) => id))]));
      const facts = book.facts();
      const { countedFromMs } = state;
      const { epochStartedAtMs } = facts;
      const found = reconcile({
        project,
        rows,
        known,
        countedFromMs,
        ids: book.idHours,
        epochStartedAtMs,
        isWanted: isWantedJob,
      });
      const measured = measure(book.totals, project, found.counted, rules);
      const isNewEpoch = found.newEpochAtMs !== undefined;
      const epoch = facts.epoch + Number(isNewEpoch);
      counted = found.counted;
      tell = () => {
        observe.observed(counted.length);
        observe.late(counted.filter(({ endedAtMs }) => endedAtMs < lateBeforeMs).length);
        observe.imported(found.imported);
        for (const [reason, runs] of Object.entries(measured.unmeasured)) {
          // The cast is true: these are its keys.
          observe.unmeasured(reason as UnmeasuredReason, runs);
        }
        observe.dropped('merged', measured.merged);
        for (const { status, customStatus } of counted) {
          if (status === 'other' && customStatus === undefined) observe.unknownValue('status');
        }
      };
      const advanced = await prune(advance?.(state) ?? state);
      return {
        ...(found.epochStartedAtMs === epochStartedAtMs
          ? {}
          : { facts: { ...facts, epoch, epochStartedAtMs: found.epochStartedAtMs } }),
        states: advanced === state ? [] : [advanced],
        entries: found.entries.map((entry) => ({ project, ...entry })),
        cells: [...measured.cells.values()],
        jobs: [...measured.jobs.values()],
        claims: measured.claims,
        idHours: found.idHours,
        hasNewEpoch: isNewEpoch,
        recent: counted.map((run) => toRecent(project, run)),
        alongside: counted.length === 0 ? [] : (companion?.keep(project, counted, epoch) ?? []),
        ...(advanced.countedFromMs === countedFromMs
          ? {}
          : { prune: { project, endedBeforeMs: advanced.countedFromMs } }),
      };
    });
    tell();
    if (counted.length > 0) companion?.kept(project, counted);
    return counted;
  };
}

function byId(entries: readonly LedgerEntry[]): Map<number, LedgerEntry[]> {
  const runs = new Map<number, LedgerEntry[]>();
  for (const entry of entries) {
    const known = runs.get(entry.id);
    if (known === undefined) runs.set(entry.id, [entry]);
    else known.push(entry);
  }
  return runs;
}

function toRecent(project: string, run: Finished): RecentRun {
  const { id, startedAtMs, endedAtMs } = run;
  return { id, project, ...toJobName(run), ending: toEnding(run), startedAtMs, endedAtMs };
}
