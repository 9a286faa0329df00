import { toTraced } from '../../api/endpoints/executions.ts';
import type { Finished } from '../../domain/execution.ts';
import { type FailureClass, isFailure } from '../../domain/failure-class.ts';
import type { TracedExecution } from '../../domain/span-source.ts';
import type { CommitHook, LedgerDocument } from '../../state/ledger.ts';
import type { Attempts } from './attempts.ts';
import { type PendingTrace, toPendingDocument } from './pending.ts';
import type { ListedRuns } from './waiting-traces.ts';

type Noted = { readonly documents: readonly LedgerDocument[]; readonly done: () => void };

/** Counts failures by class after their steps were read. Commit the documents, then call `done`. */
export type FailedRuns = {
  readonly loadFirst: (documents: readonly LedgerDocument[]) => void;
  readonly expect: (project: string, run: Finished, failureClass?: FailureClass) => Noted;
  readonly settle: (
    run: Pick<Finished, 'id' | 'startedAtMs'>,
    failureClass: FailureClass,
    lines?: { fingerprint: string; isNew: boolean; beforeMs?: number | undefined },
  ) => Noted;
};

type CommitHookOptions = {
  attempts: Pick<Attempts, 'note'>;
  nowMs: () => number;
  /** Returns the server time, because executions have dates of the server. */
  serverNowMs: () => number;
  /** The maximum age of an execution that gets a trace. */
  maxAgeMs: number;
  /** Returns how many more traces may be pending. */
  room: () => number;
  /** Stores failures until their class is counted; undefined if failures are not diagnosed. */
  failures: Pick<FailedRuns, 'expect'> | undefined;
  onPending: (pending: readonly PendingTrace[], listed: ListedRuns) => void;
  skipped: (reason: 'max_age' | 'max_pending', executions: number) => void;
};

/** Stores the pending traces of counted executions, and the attempts that they repeat, in the transaction of counting. */
export function createTraceCommitHook(options: CommitHookOptions): CommitHook {
  const { attempts, nowMs, serverNowMs, maxAgeMs, room, onPending, skipped } = options;
  const choices = new WeakMap<Parameters<CommitHook['kept']>[1], Choice>();
  return {
    keep: (project, runs, epoch, lagMs = 0) => {
      const seenAtMs = nowMs();
      // The earlier of the two clocks is used, because the server clock may be ahead for a while.
      const readAtMs = Math.min(serverNowMs(), seenAtMs);
      const traceable = runs.filter(({ status }) => status !== 'missed');
      const young = traceable.filter(({ endedAtMs }) => readAtMs - endedAtMs <= maxAgeMs + lagMs);
      const chosen = young.slice(0, Math.max(0, room()));
      const listed = new Map<PendingTrace, TracedExecution>();
      const pending = chosen.map((run): PendingTrace => {
        const { succeededOn: _names, ...stored } = run;
        const each = { ...stored, project, epoch, seenAtMs };
        // Rows of older executions are not kept in memory: there may be many, and traces of older executions wait longer.
        const full = readAtMs - run.endedAtMs < maxListedAgeMs ? toTraced(run) : undefined;
        if (full !== undefined) listed.set(each, full);
        return each;
      });
      const noted = attempts.note(traceable, epoch, seenAtMs);
      const kept = new Set(chosen);
      const failed = options.failures === undefined ? [] : traceable.filter(isFailure);
      // The class of a failure without a trace stays unknown, because its steps are not read.
      const failures = failed.flatMap(
        (run) => options.failures?.expect(project, run, kept.has(run) ? undefined : 'unread') ?? [],
      );
      choices.set(runs, {
        noted: () => {
          noted.done();
          for (const failure of failures) failure.done();
        },
        pending,
        listed,
        tooOld: traceable.length - young.length,
        tooMany: young.length - pending.length,
      });
      const documents = failures.flatMap((failure) => failure.documents);
      return [...noted.documents, ...documents, ...pending.map(toPendingDocument)];
    },
    // Skipped runs are reported after the commit, because a failed commit selects the runs again.
    kept: (_project, runs) => {
      const { noted, pending, listed, tooOld, tooMany } = choices.get(runs) ?? nothing;
      noted();
      skipped('max_age', tooOld);
      skipped('max_pending', tooMany);
      onPending(pending, listed);
    },
  };
}

type Choice = {
  noted: () => void;
  pending: readonly PendingTrace[];
  listed: ListedRuns;
  tooOld: number;
  tooMany: number;
};

const nothing: Choice = { noted: () => undefined, pending: [], listed: new Map(), tooOld: 0, tooMany: 0 };

const maxListedAgeMs = 300_000;
