import { toList } from '../../domain/format.ts';
import type { JobFacts } from '../../executions/counting/totals.ts';
import { findBlockers } from '../deciding/blockers.ts';
import { ofOwner, ownerSilenceMs } from '../deciding/cause.ts';
import { type Sources, sourceKeys, timelineOf } from '../deciding/sources.ts';
import type { WatchedJob } from '../deciding/watched-job.ts';
import { type FailingNodes, failsEverywhere } from './nodes.ts';

/** Why a run is at risk, worst first. */
export const riskReasons = [
  'passive',
  'executions_disabled',
  'schedule_disabled',
  'owner_gone',
  'node_failing',
  'job_failing',
  'overlap',
  'saturated',
] as const;
export type RiskReason = (typeof riskReasons)[number];

/** Known trouble that a future run will meet. Times are the server's. */
export type Risk = {
  readonly reason: RiskReason;
  /** What has the trouble: a project, a node, a member or the path of a job; empty for the server. */
  readonly subject: string;
  /** The trouble as the begin of a sentence. */
  readonly text: string;
  /** Undefined if it only begins with the run. */
  readonly sinceMs: number | undefined;
  /** What shows it. */
  readonly evidence: string;
};

export type PastRuns = Pick<JobFacts, 'consecutiveFailures' | 'failedMs' | 'lastFailedId'>;

export type Trouble = {
  readonly sources: Sources;
  readonly nowMs: number;
  /** The path of the job, and its past runs; undefined if none is known. */
  readonly path: string;
  readonly facts: PastRuns | undefined;
  readonly nodes: FailingNodes;
};

/** Returns the trouble that every run of a job will meet while it lasts. */
export function findLasting(job: WatchedJob, trouble: Trouble): readonly Risk[] {
  return [
    ...findSwitched(job, trouble),
    ...findOwnerGone(job, trouble),
    ...findNodes(job, trouble),
    ...findFailing(trouble),
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
            `${job.project} has its ${reason === 'executions_disabled' ? 'executions' : 'schedules'} switched off`,
          ];
    return [{ reason, subject, text, sinceMs: fact.atMs, evidence: `${fact.source}; fix: ${fix}` }];
  });
}

/** The member that runs the schedule answered before, and is silent while the server answers. */
function findOwnerGone({ ownerUuid }: WatchedJob, { sources, nowMs }: Trouble): readonly Risk[] {
  if (ownerUuid === undefined) return [];
  const lastMs = timelineOf(sources, sourceKeys.member(ownerUuid)).at(-1)?.throughMs;
  const contact = timelineOf(sources, sourceKeys.contact).at(-1);
  const isServerThere = contact?.value === 'answered' && nowMs - contact.throughMs <= ownerSilenceMs;
  if (lastMs === undefined || !isServerThere || nowMs - lastMs <= ownerSilenceMs) return [];
  const text = `member ${ownerUuid} does not answer`;
  return [{ reason: 'owner_gone', subject: ownerUuid, text, sinceMs: lastMs, evidence: 'its last answer' }];
}

/** A usual node of the job fails in several jobs. */
function findNodes({ nodes: usual = {} }: WatchedJob, { nodes }: Trouble): readonly Risk[] {
  return Object.keys(usual).flatMap((node): Risk[] => {
    const failing = nodes.get(node);
    if (failing === undefined || !failsEverywhere(failing)) return [];
    const { sinceMs, jobs } = failing;
    const evidence = `${toList(jobs)} failed there, and none has succeeded since`;
    return [{ reason: 'node_failing', subject: node, text: `${node} fails everywhere`, sinceMs, evidence }];
  });
}

/** Aborted runs and attempts that are retried neither count as failures nor end a row of them. */
function findFailing({ path, facts }: Trouble): readonly Risk[] {
  const { consecutiveFailures = 0, failedMs = [], lastFailedId } = facts ?? {};
  if (consecutiveFailures < failuresInRow) return [];
  const evidence = `its last ${consecutiveFailures} runs failed${lastFailedId === undefined ? '' : `, the last is #${lastFailedId}`}`;
  return [
    { reason: 'job_failing', subject: path, text: `${path} fails every time`, sinceMs: failedMs.at(-1), evidence },
  ];
}

const failuresInRow = 3;
