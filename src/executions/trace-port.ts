import type { CommitHook } from '../state/ledger.ts';
import type { Totals } from './counting/series-slots.ts';
import { createFailures, type Failures } from './ledger/failures.ts';
import { createExemplars, type Exemplars, type TracedRun } from './series/exemplars.ts';

export function joinHooks(given: readonly (CommitHook | undefined)[]): CommitHook {
  const hooks = given.filter((hook) => hook !== undefined);
  return {
    keep: (...counted) => hooks.flatMap((hook) => hook.keep(...counted)),
    readThrough: (endedAtMs) => hooks.flatMap((hook) => hook.readThrough?.(endedAtMs) ?? []),
    kept: (...counted) => {
      for (const hook of hooks) hook.kept(...counted);
    },
  };
}

/** What tracing calls. */
export type TracingSide = {
  /** Stores the classes of failures; the next round counts them. */
  readonly failures: Pick<Failures, 'loadFirst' | 'expect' | 'settle'>;
  /** Returns the server time of the last round; undefined before the first round. */
  readonly serverNowMs: () => number | undefined;
  /** Call when a counted run has its trace; the run may become the exemplar of its duration. */
  readonly onTraced: (traced: TracedRun) => void;
};

/** What executions call. */
export type TracePort = TracingSide & {
  readonly failures: Failures;
  readonly noteServerNow: (nowMs: number) => void;
  /** Sets the totals to which exemplars belong; before this call there are no exemplars. */
  readonly noteTotals: (totals: Totals) => void;
  readonly exemplars: Pick<Exemplars, 'of'>;
};

/** Connects the executions of one server to their traces; neither room imports the other. */
export function createTracePort(buckets: readonly number[]): TracePort {
  const exemplars = createExemplars(buckets);
  const failures = createFailures();
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
    failures,
  };
}
