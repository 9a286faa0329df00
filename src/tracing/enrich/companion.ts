import type { Execution } from '../../domain/execution.ts';
import type { LedgerDocument } from '../../state/ledger.ts';
import { type PendingTrace, toPendingDocument } from './pending.ts';

type Run = Execution & { readonly endedAtMs: number };

export type TraceCompanion = {
  readonly keep: (project: string, runs: readonly Run[]) => readonly LedgerDocument[];
  readonly kept: (project: string, runs: readonly Run[]) => void;
};

type CompanionOptions = {
  readonly nowMs: () => number;
  /** The server's own time, by which it dates the ends of executions. */
  readonly serverNowMs: () => number;
  /** What is found longer after its end gets no trace. */
  readonly maxAgeMs: number;
  /** How many more may be pending. */
  readonly room: () => number;
  readonly onPending: (pending: readonly PendingTrace[]) => void;
  readonly skipped: (reason: 'max_age' | 'max_pending', executions: number) => void;
};

/** What tracing keeps of counted executions, in the transaction that counts them. */
export function createTraceCompanion(options: CompanionOptions): TraceCompanion {
  const { nowMs, serverNowMs, maxAgeMs, room, onPending, skipped } = options;
  const chosen = new WeakMap<readonly Run[], readonly PendingTrace[]>();
  return {
    keep: (project, runs) => {
      const seenAtMs = nowMs();
      const readAtMs = serverNowMs();
      const traceable = runs.filter(({ status }) => status !== 'missed');
      const young = traceable.filter(({ endedAtMs }) => readAtMs - endedAtMs <= maxAgeMs);
      const pending = young.slice(0, Math.max(0, room())).map((run): PendingTrace => ({ ...run, project, seenAtMs }));
      skipped('max_age', traceable.length - young.length);
      skipped('max_pending', young.length - pending.length);
      chosen.set(runs, pending);
      return pending.map(toPendingDocument);
    },
    kept: (_project, runs) => onPending(chosen.get(runs) ?? []),
  };
}
