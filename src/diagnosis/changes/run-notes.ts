import type { RunOrigin } from '../../api/endpoints/executions.ts';
import { toJobPath } from '../../domain/job.ts';
import type { CommitHook } from '../../state/ledger.ts';
import type { Change } from './deciding/change.ts';
import { type CountedRun, type JobRuns, noteRun, type RunFacts, toRunText } from './deciding/runs.ts';
import { toRunDocument } from './documents.ts';

type Finished = Parameters<CommitHook['keep']>[1][number];

type FirstFailure = { readonly project: string; readonly jobId: string | undefined };

export type RunNotes = {
  readonly commitHook: CommitHook;
  readonly receive: (origins: readonly RunOrigin[], hash: (text: string) => string) => void;
  /** Returns the differences between first failures and last successes since the last call of `taken`. */
  readonly changes: () => readonly Change[];
  /** Call with the changes that were stored. */
  readonly taken: (stored: readonly Change[]) => void;
};

type Options = {
  readonly runs: Map<string, JobRuns>;
  /** Called after the commit. */
  readonly onFirst: (first: FirstFailure) => void;
  /** Called with the path with which the job ran before. */
  readonly onCounted: (run: CountedRun, former: string) => void;
  /** True if names of users may be shown. */
  readonly namesUsers: boolean;
  readonly serverNowMs: () => number;
  readonly maxJobs?: number;
};

/** Compares the first failure of each job after a success with the success. */
export function createRunNotes(options: Options): RunNotes {
  const { runs, onFirst, onCounted, namesUsers, serverNowMs, maxJobs = usualMaxJobs } = options;
  const origins = createOrigins(namesUsers);
  const pending = new WeakMap<readonly Finished[], Planned>();
  const paths = createPaths(runs);
  let changes: Change[] = [];

  function toFacts({ id, startedAtMs, type = '' }: Finished): RunFacts {
    return { id, startedAtMs, trigger: type, ...origins.get(id) };
  }

  function plan(project: string, ended: readonly Finished[]): readonly Step[] {
    const known = new Map<string, JobRuns>();
    return ended
      .toSorted((one, other) => one.startedAtMs - other.startedAtMs)
      .flatMap((run): readonly Step[] => {
        const { name, group = '', id } = run.job ?? {};
        if (name === undefined || isNoEnd.has(run.status)) return [];
        const job = toJobPath({ project, group, name });
        const former = paths.of(id) ?? job;
        const before = known.get(job) ?? runs.get(former) ?? {};
        const facts = toFacts(run);
        const isSuccess = run.status === 'succeeded';
        const noted = run.lacksStart === true ? { runs: before, isFirst: false } : noteRun(before, facts, isSuccess);
        // A member whose clock is ahead must not hide later runs.
        const endedAtMs = Math.min(run.endedAtMs, serverNowMs());
        const first = !isSuccess && before.last?.isFailed === true && (before.last.first ?? before.last.facts);
        const counted = toCounted(run, { project, job, facts, endedAtMs, ...(first && { first }) });
        const isLater = counted.endedAtMs >= (before.last?.endedAtMs ?? Number.NEGATIVE_INFINITY);
        const last = isLater ? counted : before.last;
        if (noted.runs === before && last === before.last) return [];
        const after = { ...noted.runs, ...(last && { last }) };
        known.set(job, after);
        return [{ project, job, former, jobId: id, runs: after, first: noted.isFirst ? facts : undefined }];
      });
  }

  function apply({ project, job, former, jobId, runs: noted, first }: Step): void {
    // Moves the job to the end, so that jobs are sorted by their last run.
    runs.delete(job);
    runs.set(job, noted);
    paths.note(jobId, job);
    const { success, last } = noted;
    if (last !== undefined) onCounted(last, former);
    if (first === undefined || success === undefined) return;
    const what = toRunText(success, first);
    const times = { afterMs: success.startedAtMs, beforeMs: first.startedAtMs, atMs: first.startedAtMs };
    if (what !== '') changes = [...changes, { kind: 'run', project, subject: job, what, ...times }];
    onFirst({ project, jobId });
  }

  return {
    commitHook: {
      keep: (project, ended) => {
        const steps = plan(project, ended);
        const last = new Map(steps.map((step) => [step.job, step.runs]));
        const renamed = steps.flatMap(({ former }) => (last.has(former) ? [] : [former]));
        const gone = new Set([...renamed, ...findOldest(runs, last, maxJobs)]);
        pending.set(ended, { steps, gone });
        return [
          ...[...gone].map((job) => toRunDocument(job, undefined)),
          ...[...last].map(([job, noted]) => toRunDocument(job, noted)),
        ];
      },
      kept: (_project, ended) => {
        for (const job of pending.get(ended)?.gone ?? []) paths.forget(job);
        for (const step of pending.get(ended)?.steps ?? []) apply(step);
      },
    },
    receive: origins.receive,
    changes: () => changes,
    taken: (stored) => {
      changes = changes.filter((change) => !stored.includes(change));
    },
  };
}

/** The last paths of jobs, by id, so that a renamed job keeps its runs. */
function createPaths(runs: Map<string, JobRuns>) {
  const paths = new Map<string, string>();
  const note = (id: string | undefined, path: string): void => {
    if (id !== undefined) paths.set(id, path);
  };
  return {
    of: (id = ''): string | undefined => {
      // The runs are loaded after this object is created.
      if (paths.size === 0) for (const [path, { last }] of runs) note(last?.jobId, path);
      return paths.get(id);
    },
    note,
    forget: (path: string): void => {
      paths.delete(runs.get(path)?.last?.jobId ?? '');
      runs.delete(path);
    },
  };
}

type Origin = Omit<RunFacts, 'id' | 'startedAtMs' | 'trigger'>;

/** The origins of the runs that were listed last. */
function createOrigins(namesUsers: boolean) {
  const all = new Map<number, Origin>();
  const receive: RunNotes['receive'] = (listed, hash) => {
    for (const { id, arguments: given = '', user, memberUuid, nodes } of listed) {
      all.delete(id);
      all.set(id, {
        arguments: hash(given),
        ...(user === undefined ? {} : { user: namesUsers ? user : hash(user) }),
        ...(memberUuid === undefined ? {} : { memberUuid }),
        ...(nodes.length === 0 ? {} : { nodes: nodes.toSorted().slice(0, maxNodes), nodeCount: nodes.length }),
      });
    }
    for (const id of all.keys()) {
      if (all.size <= maxOrigins) break;
      all.delete(id);
    }
  };
  return { get: (id: number): Origin | undefined => all.get(id), receive };
}

function toCounted(
  { job, status, failedNodes }: Finished,
  known: Pick<CountedRun, 'project' | 'job' | 'facts' | 'endedAtMs' | 'first'>,
): CountedRun {
  const isFailed = status !== 'succeeded';
  return { ...known, jobId: job?.id, isFailed, failedNodes: failedNodes.slice(0, maxNodes) };
}

type Runs = ReadonlyMap<string, JobRuns>;

/** Returns the jobs with the oldest last runs, which are removed for new jobs. */
function findOldest(runs: Runs, last: Runs, maxJobs: number): readonly string[] {
  const added = [...last.keys()].filter((job) => !runs.has(job)).length;
  const excess = runs.size + added - maxJobs;
  return excess <= 0 ? [] : [...runs.keys()].filter((job) => !last.has(job)).slice(0, excess);
}

type Planned = { readonly steps: readonly Step[]; readonly gone: ReadonlySet<string> };

type Step = {
  readonly project: string;
  readonly job: string;
  readonly former: string;
  readonly jobId: string | undefined;
  readonly runs: JobRuns;
  readonly first: RunFacts | undefined;
};

/** The statuses that are neither a success nor a failure. */
const isNoEnd = new Set<Finished['status']>(['aborted', 'missed', 'running', 'queued', 'scheduled']);
const usualMaxJobs = 20_000;
const maxNodes = 20;
const maxOrigins = 5000;
