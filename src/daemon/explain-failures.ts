import type { Changes } from '../diagnosis/changes/changes.ts';
import { type Explanation, toSuspectText } from '../diagnosis/changes/explain.ts';
import type { FailureClass, Seen } from '../domain/failure-class.ts';
import { isFailure, isRunOf } from '../status/running.ts';
import type { EndedStatus } from '../status/status.ts';
import { toBriefCause } from '../status/why-failed.ts';
import type { PendingTrace } from '../tracing/enrich/pending.ts';
import { timeout } from '../tracing/plan/failure-reason.ts';
import type { WatchOptions } from './server-targets.ts';

type Known = {
  readonly traces?: Pick<NonNullable<WatchOptions['traces']>, 'causeOf' | 'failureOf' | 'lastFailureOf'> | undefined;
  readonly changes: Pick<Changes, 'explain'> | undefined;
  readonly ended: () => readonly EndedStatus[];
  readonly isWantedJob: (jobPath: string) => boolean;
};

type Explainer = {
  /** Explains what changed before a failed run of a job; undefined for other executions. */
  readonly explain: (run: EndedStatus) => Explanation | undefined;
  /** Returns why a job last failed, in a few words. */
  readonly causeOf: (jobPath: string) => string | undefined;
  /** Finds an older failed run of a job. Only the cause of an older run is kept. */
  readonly older: (id: number) => EndedStatus | undefined;
};

/** Explains the failures of one server by their causes and by the journal of changes. */
export function createExplainer(server: string, { ended, changes, traces, isWantedJob }: Known): Explainer {
  const explain: Explainer['explain'] = (run) => {
    const { project, job, jobId, startedAtMs, endedAtMs, failedNodes = [] } = run;
    if (changes === undefined || job === undefined || !isFailure(run)) return undefined;
    let successMs: number | undefined;
    for (const one of ended()) {
      const isEarlier = one.startedAtMs < startedAtMs && one.startedAtMs > (successMs ?? Number.NEGATIVE_INFINITY);
      if (isEarlier && one.ending === 'succeeded' && isRunOf(one, { id: jobId, path: `${project}/${job}` }))
        successMs = one.startedAtMs;
    }
    const { failureClass, seen } = traces?.causeOf(server, run)?.failure ?? {};
    return changes.explain({ project, job, jobId, startedAtMs, endedAtMs, failedNodes, failureClass, seen, successMs });
  };
  return {
    explain,
    causeOf: (jobPath) => {
      const failure = traces?.lastFailureOf(server, jobPath);
      const run = failure && ended().find(({ id }) => id === failure.id);
      return failure && toBriefCause(failure, run && explain(run));
    },
    older: (id) => {
      const { failure, startedAtMs = 0 } = traces?.failureOf(server, id) ?? {};
      if (failure?.job === undefined || !isWantedJob(failure.job)) return undefined;
      const [project = '', ...path] = failure.job.split('/');
      const ending = failure.reason === timeout ? 'timedout' : 'failed';
      const where = failure.node === undefined ? {} : { failedNodes: [failure.node] };
      return { id, project, job: path.join('/'), startedAtMs, endedAtMs: failure.endedAtMs, ending, ...where };
    },
  };
}

export async function listSuspects(
  changes: Changes,
  { project, job, ...run }: PendingTrace,
  failure: { readonly failureClass: FailureClass; readonly seen: Seen | undefined },
): Promise<readonly string[]> {
  if (job?.name === undefined) return [];
  const path = job.group === undefined || job.group === '' ? job.name : `${job.group}/${job.name}`;
  const { suspects } = await changes.explainAtOnce(
    { ...run, project, job: path, jobId: job.id, ...failure, successMs: undefined },
    job.id,
  );
  return suspects.map(toSuspectText);
}
