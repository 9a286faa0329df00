import { toTime } from '../../domain/ages.ts';
import type { Surroundings } from '../../domain/failure-class.ts';
import { toCount, toList } from '../../domain/format.ts';
import type { JobFacts } from '../../domain/job.ts';
import { ofJobPath, toJobPath } from '../../domain/job.ts';

import { findBlockers } from '../deciding/blockers.ts';
import { ofOwner, ownerSilenceMs } from '../deciding/cause.ts';
import { type Sources, sourceKeys, timelineOf } from '../deciding/sources.ts';
import type { WatchedJob } from '../deciding/watched-job.ts';
import { type FailingNodes, findWitnesses, isOfLastRun } from './nodes.ts';

/** The reasons why a run is at risk, worst first. */
export const riskReasons = [
  'passive',
  'executions_disabled',
  'schedule_disabled',
  'owner_gone',
  'node_gone',
  'node_failing',
  'access',
  'job_failing',
  'child_failing',
  'common_cause',
  'overlap',
  'saturated',
] as const;
export type RiskReason = (typeof riskReasons)[number];

export type Risk = {
  readonly reason: RiskReason;
  /** The project, node, member or job path with the trouble; empty for the server. */
  readonly subject: string;
  /** The trouble, as the beginning of a sentence. */
  readonly text: string;
  /** The start of the trouble, if it is known and before the run. */
  readonly sinceMs: number | undefined;
  /** The facts that prove the trouble, perhaps with an execution. */
  readonly evidence: string;
  readonly executionId?: number | undefined;
};

type PastRuns = Pick<
  JobFacts,
  'consecutiveFailures' | 'failedMs' | 'lastFailedId' | 'lastFailedMs' | 'lastFailure' | 'lastSuccessMs'
> &
  Partial<Pick<JobFacts, 'jobId' | 'lastStartMs'>>;

type FactsOf = (project: string, group: string, name: string, jobId?: string) => PastRuns | undefined;

export type Trouble = {
  readonly sources: Sources;
  readonly nowMs: number;
  readonly path: string;
  readonly facts: PastRuns | undefined;
  readonly factsOf: FactsOf;
  readonly nodes: FailingNodes;
  /** The nodes, keys and other things that jobs depend on; undefined without a journal of changes. */
  readonly surroundings: Surroundings | undefined;
};

export function findLasting(job: WatchedJob, trouble: Trouble): readonly Risk[] {
  return [
    ...findSwitched(job, trouble),
    ...findOwnerGone(job, trouble),
    ...findGoneNodes(job, trouble),
    ...findNodes(job, trouble),
    ...findRefused(job, trouble),
    ...findFailing(trouble),
    ...findFailingChildren(job, trouble),
    ...findCause(job, trouble),
  ];
}

function findSwitched(job: WatchedJob, { sources, nowMs }: Trouble): readonly Risk[] {
  return findBlockers(job, sources, nowMs).flatMap(({ reason, fact, fix }) => {
    if (reason !== 'passive' && reason !== 'executions_disabled' && reason !== 'schedule_disabled') return [];
    const isOfMember =
      reason === 'passive' &&
      ofOwner(sources, sourceKeys.mode, job.ownerUuid) !== timelineOf(sources, sourceKeys.mode());
    const [subject, text] =
      reason === 'passive'
        ? isOfMember
          ? [job.ownerUuid ?? '', `member ${job.ownerUuid} is passive`]
          : ['', fact.fact]
        : [
            job.project,
            `${reason === 'executions_disabled' ? 'executions' : 'schedules'} of ${job.project} are switched off`,
          ];
    return [{ reason, subject, text, sinceMs: fact.atMs, evidence: `reported by ${fact.source}; fix: ${fix}` }];
  });
}

/** Returns a risk if the job's member stopped responding at its own address, although the server responds. */
function findOwnerGone({ ownerUuid }: WatchedJob, { sources, nowMs }: Trouble): readonly Risk[] {
  if (ownerUuid === undefined) return [];
  const last = timelineOf(sources, sourceKeys.member(ownerUuid)).at(-1);
  const lastMs = last?.value === 'answered' ? last.throughMs : undefined;
  const contact = timelineOf(sources, sourceKeys.contact).at(-1);
  const isServerThere = contact?.value === 'answered' && nowMs - contact.throughMs <= ownerSilenceMs;
  if (lastMs === undefined || !isServerThere || nowMs - lastMs <= ownerSilenceMs) return [];
  const text = `member ${ownerUuid} does not respond`;
  return [{ reason: 'owner_gone', subject: ownerUuid, text, sinceMs: lastMs, evidence: 'its last answer' }];
}

/** Returns a risk if all nodes of the last run have left the inventory: without a node, the next run fails. */
function findGoneNodes({ project, nodes = {} }: WatchedJob, { surroundings }: Trouble): readonly Risk[] {
  const needed = Object.keys(nodes);
  // If earlier runs had other nodes, the job selects nodes for each run.
  if (surroundings === undefined || !Object.values(nodes).every(isOfLastRun)) return [];
  const goneMs = needed.map((node) => surroundings.nodeGoneMs(project, node) ?? Number.NaN);
  const sinceMs = Math.max(...goneMs);
  const subject = needed[goneMs.indexOf(sinceMs)];
  if (subject === undefined) return [];
  const evidence = `the last run of the job needed ${toList(needed)}, and the project no longer lists ${needed.length === 1 ? 'it' : 'them'}`;
  return [{ reason: 'node_gone', subject, text: `node ${subject} is no longer listed`, sinceMs, evidence }];
}

/** Returns a risk if several jobs fail on a node that the job usually uses. */
function findNodes({ project, nodes: usual = {} }: WatchedJob, trouble: Trouble): readonly Risk[] {
  const { nodes, surroundings, factsOf } = trouble;
  return Object.keys(usual).flatMap((node): Risk[] => {
    const failing = nodes.get(node);
    const jobs = failing === undefined ? [] : findWitnesses(failing, toFailsSince(factsOf));
    if (failing === undefined || countIndependent(jobs, trouble) < 2) return [];
    if (surroundings?.nodeGoneMs(project, node) !== undefined) return [];
    const { sinceMs } = failing;
    const failed = `${toList(jobs)} failed on the node, and no job has succeeded on it since`;
    // Jobs that have only the failing node may themselves be the cause.
    const isOnly = jobs.every((path) => surroundings?.nodeCountOf(ofJobPath(path).project) === 1);
    const evidence = isOnly ? `${failed}; the jobs have no other node, so the jobs may be the cause` : failed;
    const text = isOnly ? `several jobs fail on node ${node}` : `node ${node} fails everywhere`;
    return [{ reason: 'node_failing', subject: node, text, sinceMs, evidence }];
  });
}

/** Counts all jobs with the same child job or refused key as one job, because the child or the key may be the cause. */
function countIndependent(paths: readonly string[], { factsOf, surroundings }: Trouble): number {
  const seen = new Set<string>();
  return paths.filter((path) => {
    const names = ofJobPath(path);
    const { jobId = '', lastFailure, lastFailedId } = factsOf(names.project, names.group, names.name) ?? {};
    const isRefused = lastFailure?.failureClass === 'access' && lastFailure.id === lastFailedId;
    const keys = isRefused ? (surroundings?.keysOf(jobId) ?? []) : [];
    const children = surroundings?.childrenOf(jobId) ?? [];
    const parts = [path, ...children.map(toJobPath), ...keys.map((key) => `key ${key}`)];
    const isNew = parts.every((part) => !seen.has(part));
    for (const part of parts) seen.add(part);
    return isNew;
  }).length;
}

/** Returns the nodes on which several jobs failed without a later success, and the failed jobs of each node. */
export function findFailingNodes({ nodes, factsOf }: Pick<Trouble, 'nodes' | 'factsOf'>): FailingJobs {
  const found = [...nodes].map(([node, failing]) => [node, findWitnesses(failing, toFailsSince(factsOf))] as const);
  return new Map(found.filter(([, jobs]) => jobs.length > 0));
}

export type FailingJobs = ReadonlyMap<string, readonly string[]>;

function toFailsSince(factsOf: Trouble['factsOf']): (path: string) => number | undefined {
  return (path) => {
    const names = ofJobPath(path);
    const { consecutiveFailures = 0, failedMs = [] } = factsOf(names.project, names.group, names.name) ?? {};
    return consecutiveFailures > failedMs.length ? Number.NEGATIVE_INFINITY : failedMs.at(-1);
  };
}

/** Returns a risk if the server or a node refused the last run, and no key is known to have changed since. */
function findRefused(job: WatchedJob, { path, facts, surroundings, nowMs }: Trouble): readonly Risk[] {
  const { lastFailure, lastFailedId, lastFailedMs, lastStartMs = lastFailedMs, consecutiveFailures = 0 } = facts ?? {};
  const isRefused = lastFailure?.failureClass === 'access' && lastFailure.id === lastFailedId;
  if (!isRefused || consecutiveFailures === 0 || lastFailedMs === undefined) return [];
  // The start of the run counts, because a key may change during the run.
  const sinceMs = Math.min(lastFailedMs, lastStartMs ?? lastFailedMs);
  const untilMs = surroundings?.accessUnchangedMs(job, sinceMs);
  if (untilMs === undefined) return [];
  const evidence = `#${lastFailedId} was refused at ${toTime(lastFailedMs, nowMs)}, and no key of the job had changed by ${toTime(untilMs, nowMs)}`;
  // After several failures, the start of the trouble is unknown: earlier failures may have had another cause.
  const begunMs = consecutiveFailures === 1 ? lastFailedMs : undefined;
  const text = `${path} is refused access`;
  return [{ reason: 'access', subject: path, text, sinceMs: begunMs, evidence, executionId: lastFailedId }];
}

/** Returns a risk if the job fails every time. Aborted runs and retried attempts are ignored. */
function findFailing({ path, facts }: Trouble): readonly Risk[] {
  const failing = facts && toFailing(facts);
  if (failing === undefined) return [];
  return [{ reason: 'job_failing', subject: path, text: `${path} fails every time`, ...failing }];
}

/** Returns a risk if a child job fails on its own, without a later success of its parent job. */
function findFailingChildren({ id }: WatchedJob, { facts, factsOf, surroundings }: Trouble): readonly Risk[] {
  return (surroundings?.childrenOf(id) ?? []).flatMap(({ project, group, name }): Risk[] => {
    const ofChild = factsOf(project, group, name);
    const failing = ofChild && toFailing(ofChild);
    if (failing === undefined || (facts?.lastSuccessMs ?? 0) > (ofChild?.lastFailedMs ?? 0)) return [];
    const child = toJobPath({ project, group, name });
    return [{ reason: 'child_failing', subject: child, text: `${child}, which other jobs run, fails`, ...failing }];
  });
}

/** Returns the start of a repeated failure: three consecutive failures, or two with the same lines in their logs. */
function toFailing(facts: PastRuns): Pick<Risk, 'sinceMs' | 'evidence' | 'executionId'> | undefined {
  const { consecutiveFailures: count, failedMs = [], lastFailedId, lastFailure } = facts;
  const beforeMs = lastFailure?.id === lastFailedId ? lastFailure?.lines?.beforeMs : undefined;
  const isSame = count === 2 && beforeMs !== undefined && beforeMs === failedMs[1];
  if (count < failuresInRow && !isSame) return undefined;
  const last = lastFailedId === undefined ? '' : `, the last is #${lastFailedId}`;
  return {
    // Only the times of the last failures are stored.
    sinceMs: count > failedMs.length ? undefined : failedMs.at(-1),
    evidence: `the last ${count} runs failed${isSame ? ' with the same lines in their logs' : ''}${last}`,
    executionId: lastFailedId,
  };
}

const failuresInRow = 3;

/** Returns a risk if the job shares the cause of many failing jobs, without a later success. */
function findCause(job: WatchedJob, { facts, surroundings }: Trouble): readonly Risk[] {
  const cause = surroundings?.causeOf(job);
  if (cause === undefined || (facts?.lastSuccessMs ?? 0) > cause.sinceMs) return [];
  const { kind, subject, sinceMs, failed, covered, succeeded, spared } = cause;
  const evidence = `${covered} of ${toCount(failed, 'failed job')} and ${spared} of ${toCount(succeeded, 'successful job')} share the cause`;
  const text = `${kind}${subject === '' ? '' : ` ${subject}`} is shared by the failing jobs`;
  return [{ reason: 'common_cause', subject: `${kind} ${subject}`, text, sinceMs, evidence }];
}
