import type { CommitHook } from '../state/ledger.ts';
import type { Totals } from './counting/series-slots.ts';
import { createFailures } from './ledger/failures.ts';
import { createExemplars, type TracedRun } from './series/exemplars.ts';

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

/** Connects the executions of one server with their traces, because neither room imports the other. */
export function createTracePort(buckets: readonly number[]) {
  const exemplars = createExemplars(buckets);
  const failures = createFailures();
  let serverNowMs: number | undefined;
  let totals: Totals | undefined;
  return {
    /** Returns the server time of the last round; undefined before the first round. */
    serverNowMs: () => serverNowMs,
    /** Call when a counted run has its trace. The run may become the exemplar of its duration. */
    onTraced: (traced: TracedRun): void => {
      if (totals !== undefined) exemplars.note(traced, totals, serverNowMs);
    },
    noteServerNow: (nowMs: number): void => {
      serverNowMs = nowMs;
    },
    /** Sets the totals that exemplars belong to. Without a call of `noteTotals`, there are no exemplars. */
    noteTotals: (known: Totals): void => {
      totals = known;
    },
    exemplars,
    failures,
  };
}

export type TracePort = ReturnType<typeof createTracePort>;
