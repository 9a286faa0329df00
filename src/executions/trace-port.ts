import type { LedgerDocument } from '../state/ledger.ts';
import type { Finished } from './counting/reconcile.ts';
import type { Totals } from './counting/series-slots.ts';
import { createExemplars, type Exemplars, type TracedRun } from './series/exemplars.ts';

/** Executions call it: it adds documents to the counting transaction and is notified after the commit. */
export type CommitHook = {
  readonly keep: (project: string, runs: readonly Finished[], epoch: number) => readonly LedgerDocument[];
  readonly kept: (project: string, runs: readonly Finished[]) => void;
  /** Called with the latest end of a transaction, also where it is of a job that is not wanted. */
  readonly readThrough?: (endedAtMs: number) => readonly LedgerDocument[];
};

/** Tracing calls it: the half of the port that asks executions, and reports to them. */
export type TracingSide = {
  /** The server's time as the last round read it, which dates the ends of executions; undefined before the first round. */
  readonly serverNowMs: () => number | undefined;
  /** A counted run has its trace: it may become the exemplar of its duration. */
  readonly onTraced: (traced: TracedRun) => void;
};

/** The half of executions, which keeps what the other half reads. */
export type TracePort = TracingSide & {
  readonly noteServerNow: (nowMs: number) => void;
  /** Traces are held against these totals; before they are known there are no exemplars. */
  readonly noteTotals: (totals: Totals) => void;
  readonly exemplars: Pick<Exemplars, 'of'>;
};

/** Joins the executions of one server to their traces: both rooms are given this port, and neither knows the other. */
export function createTracePort(buckets: readonly number[]): TracePort {
  const exemplars = createExemplars(buckets);
  let serverNowMs: number | undefined;
  let totals: Totals | undefined;
  return {
    serverNowMs: () => serverNowMs,
    onTraced: (traced) => {
      if (totals !== undefined) exemplars.note(traced, totals, serverNowMs);
    },
    noteServerNow: (nowMs) => {
      serverNowMs = nowMs;
    },
    noteTotals: (known) => {
      totals = known;
    },
    exemplars,
  };
}
