import type { Change } from './deciding/change.ts';
import {
  type CommonCause,
  type Factor,
  findCommonCause,
  isLasting,
  isSame,
  type JobResult,
  longWindowMs,
  recount,
} from './deciding/common-cause.ts';
import type { CountedRun } from './deciding/runs.ts';
import type { Kept } from './documents.ts';

type Options = {
  readonly serverNowMs: () => number;
  /** Returns what the definition of a job names; undefined if the definition was not read. */
  readonly namedBy: (jobId: string) => Named | undefined;
  readonly memberName: (uuid: string) => string;
};

type Named = { readonly keys: readonly string[]; readonly children: readonly string[] };

type Result = JobResult & { readonly keys: readonly string[] };

export type CommonCauses = ReturnType<typeof createCommonCauses>;

/** Finds causes that many failed jobs share, from the last result of each job. */
export function createCommonCauses({ serverNowMs, namedBy, memberName }: Options) {
  const runs = new Map<string, CountedRun>();
  let current: CommonCause | undefined;

  function toResult({ project, jobId, endedAtMs, isFailed, failedNodes, facts, first = facts }: CountedRun): Result {
    const named = jobId === undefined ? undefined : namedBy(jobId);
    const { keys, children } = named ?? { keys: [], children: [] };
    const { memberUuid, nodes = [], nodeCount = 0 } = facts;
    const { user, trigger } = first;
    const isKnown = isFailed && failedNodes.length > 0;
    const factors: Factor[] = [
      ...(isKnown ? failedNodes : nodes).map((subject) => ({ kind: 'node', subject }) as const),
      ...(memberUuid === undefined ? [] : [{ kind: 'member', subject: memberName(memberUuid) } as const]),
      ...children.map((subject) => ({ kind: 'child', subject }) as const),
      { kind: 'project', subject: project },
      { kind: 'trigger', subject: trigger },
      ...(user === undefined ? [] : [{ kind: 'user', subject: user } as const]),
    ];
    const lastNode = !isFailed && nodeCount > nodes.length ? nodes.at(-1) : undefined;
    return { endedAtMs, isFailed, keys, factors, isUnread: named === undefined, lastNode };
  }

  function isCovered(run: CountedRun): boolean {
    if (current === undefined || !run.isFailed) return false;
    const { kind, subject } = current;
    const { keys, factors } = toResult(run);
    return kind === 'key' ? keys.includes(subject) : factors.some((each) => isSame(each, { kind, subject }));
  }

  function note(run: CountedRun, former = run.job): void {
    const { job, endedAtMs } = run;
    if (endedAtMs < (runs.get(job)?.endedAtMs ?? serverNowMs() - longWindowMs)) return;
    if (former !== job) runs.delete(former);
    runs.set(job, run);
  }

  return {
    load: ({ runs: stored, cause }: Pick<Kept, 'runs' | 'cause'>): void => {
      for (const { last } of stored.values()) if (last !== undefined) note(last);
      current = cause;
    },
    note,
    /** Searches for a cause, or decides whether the current cause lasts. */
    update: (changes: readonly Change[]): void => {
      const nowMs = serverNowMs();
      for (const [job, { endedAtMs }] of runs) if (endedAtMs < nowMs - longWindowMs) runs.delete(job);
      const changedKeys = new Set(
        changes.flatMap(({ kind, subject, beforeMs }) =>
          kind === 'key' && beforeMs > nowMs - longWindowMs ? [subject] : [],
        ),
      );
      // Factors are not stored, because definitions and names of members may be read after the run.
      const all = [...runs.values()].map((run): JobResult => {
        const { keys, factors, ...result } = toResult(run);
        const ofKeys = keys.filter((key) => changedKeys.has(key)).map((subject) => ({ kind: 'key', subject }) as const);
        return { ...result, factors: [...factors, ...ofKeys] };
      });
      const isOver = current === undefined || !isLasting(current, all, nowMs);
      current = current === undefined || isOver ? findCommonCause(all, nowMs) : recount(current, all, nowMs);
    },
    current: (): CommonCause | undefined => current,
    /** Reports whether the current cause applies to a run, which must be the last run of its job. */
    covers: ({ job, startedAtMs }: { readonly job: string; readonly startedAtMs: number }): boolean => {
      const run = runs.get(job);
      return run?.facts.startedAtMs === startedAtMs && isCovered(run);
    },
    covered: (): readonly string[] => [...runs].flatMap(([job, run]) => (isCovered(run) ? [job] : [])),
  };
}
