import { toDuration } from '../../domain/ages.ts';
import { toShiftRatio } from '../../domain/durations/drift.ts';
import type { Surroundings } from '../../domain/failure-class.ts';
import { toCount, toList } from '../../domain/format.ts';
import type { JobFacts } from '../../domain/job.ts';
import { toJobPath } from '../../domain/job.ts';

import type { ExecutionsStatus } from '../../executions/executions.ts';
import type { RecentRun } from '../../executions/ledger/recent-runs.ts';
import type { ExecutionSettings } from '../../executions/settings.ts';
import type { FailingJobs } from '../../expected-runs/risks/risk.ts';
import { type Limits, usualLimits } from '../limits.ts';
import type { Trouble } from '../problem-kinds.ts';
import { isFailure } from '../running.ts';

type Settings = Pick<ExecutionSettings, 'isWantedJob' | 'successAgeMsOf'> & {
  /** Returns why a job last failed, in a few words. */
  readonly causeOf?: (jobPath: string) => string | undefined;
  readonly isCritical?: (jobPath: string) => boolean;
  /** Nodes on which several jobs failed, without a later success. */
  readonly failingNodes?: FailingJobs | undefined;
  /** Returns the number of nodes of a project; undefined if unknown. */
  readonly nodeCountOf?: Surroundings['nodeCountOf'] | undefined;
};
type Facts = Pick<ExecutionsStatus, 'recent' | 'jobs' | 'isShownProject' | 'nowMs' | 'imports'> & {
  readonly overdueCount: number;
  /** The number of interrupted executions that the server still lists; they do not count as overdue. */
  readonly interruptedCount: number;
  readonly lagSeconds: number;
};

type ExecutionLimits = Limits['execution'];
type Judging = ExecutionLimits & { readonly nowMs: number };

/** Returns problems with the executions of a server. The longest windows may begin before the oldest stored run. */
export function findExecutionTroubles(
  facts: Facts,
  settings: Settings,
  limits = usualLimits.execution,
): readonly Trouble[] {
  const { lagSeconds, nowMs, imports } = facts;
  const overdue = [...findOverdue(facts)];
  if (lagSeconds > limits.lagSeconds) {
    const detail = `The last execution that was read ended ${toDuration(lagSeconds * 1000)} ago`;
    return [...overdue, { kind: 'behind', text: 'executions are read late', detail }];
  }
  const isShown = (job: Job): boolean => facts.isShownProject(job.project) && settings.isWantedJob(toPath(job));
  const recent = facts.recent.filter(isShown);
  const jobs = [...facts.jobs.values()].filter((job) => job.goneSinceMs === undefined && isShown(job));
  return [
    ...overdue,
    ...findImports(imports, limits),
    ...findBurning(recent, nowMs, limits),
    ...findNodes(recent, settings, { nowMs, ...limits }),
    ...findJobs(jobs, settings, { nowMs, ...limits }),
    ...findSlow(jobs, { nowMs, ...limits }),
  ];
}

function* findOverdue({ overdueCount, interruptedCount }: Facts): Generator<Trouble> {
  const toText = (count: number): string => `${toCount(count, 'execution')} ${count === 1 ? 'takes' : 'take'}`;
  if (overdueCount > 0) yield { kind: 'overdue', text: `${toText(overdueCount)} much longer than usual` };
  if (interruptedCount === 0) return;
  const text = `lists ${toCount(interruptedCount, 'interrupted execution')} as running`;
  const detail =
    'A restart interrupted them. Mark them as incomplete on the server, so that their jobs can start again';
  yield { kind: 'overdue', text, detail };
}

/**
 * Returns a problem if imports continue while nothing is counted: a wrong clock may be the cause. The import of an archive is
 * over sooner.
 */
function findImports(imports: Facts['imports'], { importsWindowMs }: ExecutionLimits): readonly Trouble[] {
  if (imports === undefined) return [];
  const { executions, firstAgoMs, lastAgoMs } = imports;
  if (lastAgoMs > importsWindowMs || firstAgoMs - lastAgoMs < importsWindowMs / 2) return [];
  const detail = `In ${toDuration(firstAgoMs)}, ${toCount(executions, 'execution')} ended more than a day before executions with lower ids started; a clock may be wrong`;
  return [{ kind: 'imported', text: 'imports only; no execution is counted', detail }];
}

type Job = Pick<RecentRun, 'project' | 'group' | 'name'>;

function toPath({ project, group, name }: Job): string {
  return toJobPath({ project, group, name });
}

/** Returns a problem if the error budget of the server, or of some projects, is used up too fast. */
function findBurning(recent: readonly RecentRun[], nowMs: number, limits: ExecutionLimits): readonly Trouble[] {
  const judged = recent.filter((run) => run.ending === 'succeeded' || isFailure(run));
  const scopes = [['', judged] as const, ...Map.groupBy(judged, ({ project }) => project)];
  for (const kind of ['burning', 'burning_slowly'] as const) {
    const found = scopes.flatMap(([project, runs]) => {
      const burn = limits.burns[kind].find((one) => isBurning(runs, { ...one, nowMs }, limits));
      return burn === undefined ? [] : [{ project, runs: runs.filter((run) => run.endedAtMs >= nowMs - burn.shortMs) }];
    });
    const [first] = found;
    if (first === undefined) continue;
    const [where, lately] =
      first.project === ''
        ? ['', first.runs]
        : [` of ${toList(found.map(({ project }) => project))}`, found.flatMap(({ runs }) => runs)];
    return [{ kind, text: `${Math.round(toShare(lately, 0).share * 100)} % of the executions${where} fail` }];
  }
  return [];
}

type Burn = { readonly shortMs: number; readonly longMs: number; readonly factor: number };

function isBurning(
  runs: readonly RecentRun[],
  { shortMs, longMs, factor, nowMs }: Burn & { readonly nowMs: number },
  { objective, burnFailures }: ExecutionLimits,
): boolean {
  const limit = factor * (1 - objective);
  const long = toShare(runs, nowMs - longMs);
  return long.bad >= burnFailures && long.share > limit && toShare(runs, nowMs - shortMs).share > limit;
}

function toShare(runs: readonly RecentRun[], sinceMs: number): { readonly bad: number; readonly share: number } {
  const within = runs.filter(({ endedAtMs }) => endedAtMs >= sinceMs);
  const bad = within.filter(isFailure).length;
  return { bad, share: within.length === 0 ? 0 : bad / within.length };
}

/**
 * Finds nodes on which several jobs fail without a success, while other nodes rarely fail. The only node of a project is left
 * out.
 */
function findNodes(
  recent: readonly RecentRun[],
  { failingNodes: failing, nodeCountOf }: Settings,
  { nowMs, nodeWindowMs, nodeFailures, nodeFailureRatio, nodeFailingJobs }: Judging,
): readonly Trouble[] {
  const failed = recent.filter(
    ({ endedAtMs, failedNodes = [] }) => endedAtMs >= nowMs - nodeWindowMs && failedNodes.length > 0,
  );
  const broken = [...Map.groupBy(failed, ({ project }) => project)].flatMap(([project, runs]) => {
    const all = runs.flatMap((run) => run.failedNodes ?? []);
    const byNode = [...Map.groupBy(all, (node) => node)].map(([node, { length: count }]) => ({ node, count, project }));
    return byNode.filter(
      ({ node, count }) =>
        (nodeCountOf?.(project) ?? 2) >= 2 &&
        (failing?.get(node)?.length ?? 0) >= nodeFailingJobs &&
        count >= nodeFailures &&
        count >= nodeFailureRatio * all.length,
    );
  });
  return broken.map(({ node, count, project }) => {
    const detail = `${count} executions of ${project} in ${toDuration(nodeWindowMs)}, and few or none on other nodes`;
    return { kind: 'node_failing', text: `node ${node} fails in several jobs`, detail };
  });
}

function findJobs(
  jobs: readonly JobFacts[],
  { successAgeMsOf, causeOf, isCritical }: Settings,
  { nowMs, consecutiveFailures, failuresOfCause }: Judging,
): readonly Trouble[] {
  const failing = jobs.filter((job) => job.consecutiveFailures >= consecutiveFailures);
  const certain = jobs.filter((job) => {
    const { consecutiveFailures: failures, lastFailure, lastId } = job;
    if (lastFailure?.id !== lastId || !['access', 'target'].includes(lastFailure.failureClass)) return false;
    const atLeast = isCritical?.(toPath(job)) === true ? 1 : failuresOfCause;
    return failures >= atLeast && failures < consecutiveFailures;
  });
  const stale = jobs.filter((job) => {
    const limitMs = successAgeMsOf(toPath(job));
    return limitMs !== undefined && (job.lastSuccessMs === undefined || nowMs - job.lastSuccessMs > limitMs);
  });
  return [
    ...toTrouble('jobs_failing', failing, ['keeps failing', 'keep failing'], causeOf),
    ...toTrouble(
      'jobs_failing',
      certain,
      ['is refused or cannot reach a node', 'are refused or cannot reach a node'],
      causeOf,
    ),
    ...toTrouble('jobs_stale', stale, ['has not succeeded for too long', 'have not succeeded for too long'], causeOf),
  ];
}

function findSlow(jobs: readonly JobFacts[], { nowMs, durationFactor, durationShiftMs }: Judging): readonly Trouble[] {
  const slow = jobs.filter(({ drift }) => {
    const { shift } = drift ?? {};
    return shift !== undefined && nowMs - shift.sinceMs < durationShiftMs && toShiftRatio(shift) >= durationFactor;
  });
  return toTrouble('jobs_slow', slow, ['has become slower', 'have become slower']);
}

/** Returns one problem for all jobs of a kind, with the names and causes of the first jobs. */
function toTrouble(
  kind: Trouble['kind'],
  jobs: readonly Job[],
  [one, several]: readonly [string, string],
  causeOf?: Settings['causeOf'],
): readonly Trouble[] {
  if (jobs.length === 0) return [];
  const names = jobs.map((job, index) => {
    const path = toPath(job);
    const cause = index < mostNamed ? causeOf?.(path) : undefined;
    return cause === undefined ? path : `${path} (${cause})`;
  });
  const text = `${toCount(jobs.length, 'job')} ${jobs.length === 1 ? one : several}`;
  return [{ kind, text, detail: toList(names) }];
}

const mostNamed = 4;
