import { toTime } from '../domain/ages.ts';
import { toCapital, toCount } from '../domain/format.ts';
import { toJobPath } from '../domain/job.ts';
import type { RisksAhead, RunsAtRisk, TroubleAhead } from '../expected-runs/risks/find-risks.ts';
import type { Skipped } from '../expected-runs/risks/find-skipped.ts';
import { toIso, toUnknown } from './known.ts';
import { type SkippedSummary, toSkippedSummary } from './skipped.ts';
import type { Elsewhere } from './status.ts';
import type { Silence } from './watcher.ts';

/** The coming runs at risk. Times are text, as in JSON. */
export type Tonight = { readonly hours: number; readonly servers: readonly ServerTonight[] };

export type ServerTonight = {
  readonly server: string;
  /** Why nothing is known about the runs of the server, or why the data are old; null if the data are known and current. */
  readonly unknown: string | null;
  readonly risks: RisksTonight | null;
  /** The number of scheduled runs of the last twelve hours that did not happen, and how many of them lack a later success. */
  readonly skipped: SkippedSummary | null;
};

export type RisksTonight = {
  readonly now: string;
  readonly until: string;
  readonly expected: number;
  readonly at_risk: number;
  /**
   * `runs`: runs of jobs without a known run or node. `jobs_without_times`: jobs whose scheduled times are not all
   * known. `of_projects_off`: how many of those jobs are in a project that is switched off.
   */
  readonly not_judged: { readonly runs: number; readonly jobs_without_times: number; readonly of_projects_off: number };
  readonly troubles: readonly TroubleTonight[];
  readonly troubles_left_out: number;
  readonly runs: readonly RunsTonight[];
  readonly runs_left_out: number;
};

export type TroubleTonight = {
  readonly reason: string;
  readonly subject: string;
  readonly since: string | null;
  readonly evidence: string;
  readonly execution: number | null;
  readonly runs: number;
  readonly jobs: number;
  readonly first: string;
  readonly sentence: string;
};

/** Runs of one job with the same trouble. */
export type RunsTonight = {
  readonly project: string;
  readonly group: string;
  readonly name: string;
  readonly critical: boolean;
  readonly first: string;
  readonly last: string;
  readonly count: number;
  /** The reasons, worst first. */
  readonly reasons: readonly string[];
  readonly subject: string;
};

export function toServerTonight(
  server: string,
  { risks, skipped }: { readonly risks: RisksAhead | undefined; readonly skipped: Skipped | undefined },
  silence: Silence | Elsewhere | undefined,
): ServerTonight {
  const unread = toUnknown(risks, silence);
  const unknown = unread ?? toUnreadMode(risks);
  const isElsewhere = silence !== undefined && 'watcher' in silence;
  if (risks === undefined || isElsewhere) return { server, unknown, risks: null, skipped: null };
  // The first list of jobs is still missing.
  if (risks.jobCount === 0)
    return { server, unknown: unknown ?? 'no scheduled job is watched yet', risks: null, skipped: null };
  return { server, unknown, risks: toRisksTonight(risks), skipped: skipped ? toSkippedSummary(skipped, unread) : null };
}

/** A token may lack the right to read the execution mode. */
function toUnreadMode(risks: RisksAhead | undefined): string | null {
  const isKnown = risks === undefined || risks.jobCount === 0 || risks.byReason.has('passive');
  return isKnown ? null : 'its execution mode cannot be read, so it may be passive';
}

function toRisksTonight(risks: RisksAhead): RisksTonight {
  const { nowMs, untilMs, expected, atRisk, unjudged, untimed, troubles, runs } = risks;
  return {
    now: toIso(nowMs),
    until: toIso(untilMs),
    expected,
    at_risk: atRisk,
    not_judged: { runs: unjudged, jobs_without_times: untimed.count, of_projects_off: untimed.switchedOff },
    troubles: troubles.slice(0, maxTroubles).map((trouble) => toTrouble(trouble, risks)),
    troubles_left_out: Math.max(0, troubles.length - maxTroubles),
    runs: runs.slice(0, maxRuns).map(toRuns),
    runs_left_out: Math.max(0, runs.length - maxRuns),
  };
}

const maxTroubles = 100;
const maxRuns = 500;

function toTrouble(trouble: TroubleAhead, { nowMs }: RisksAhead): TroubleTonight {
  const { reason, subject, sinceMs, evidence, executionId, text, count, jobCount, firstMs, firstJob } = trouble;
  const since = sinceMs === undefined ? '' : ` since ${toTime(sinceMs, nowMs)}`;
  const job = toJobPath(firstJob);
  const first = `${count === 1 ? '' : 'first '}${job === subject ? '' : `${job} `}at ${toTime(firstMs, nowMs)}`;
  const heading = ofJobs.has(reason) ? `Job ${text}` : toCapital(text);
  const sentence = `${heading}${since}: ${toCount(count, 'run')}, ${first}`;
  return {
    reason,
    subject,
    since: sinceMs === undefined ? null : toIso(sinceMs),
    evidence,
    execution: executionId ?? null,
    runs: count,
    jobs: jobCount,
    first: toIso(firstMs),
    sentence,
  };
}

/** The reasons whose texts begin with the name of a job, which must not be capitalized. */
const ofJobs = new Set<TroubleAhead['reason']>(['access', 'job_failing', 'child_failing', 'overlap']);

function toRuns({ job, isCritical, firstMs, lastMs, count, reasons, subject }: RunsAtRisk): RunsTonight {
  return { ...job, critical: isCritical, first: toIso(firstMs), last: toIso(lastMs), count, reasons, subject };
}

/** Reports whether any run is at risk. Returns undefined if a server is silent or not watched, and no known run is at risk. */
export function isAnyAtRisk({ servers }: Tonight): boolean | undefined {
  if (servers.some(({ risks }) => (risks?.at_risk ?? 0) > 0)) return true;
  return servers.every(({ risks, unknown }) => unknown === null && isJudged(risks)) && servers.length > 0
    ? false
    : undefined;
}

/** Reports whether the risks are known: all times are known, and at least one run was checked unless no run is expected. */
export function isJudged(risks: RisksTonight | null): boolean {
  if (risks === null) return false;
  const { runs, jobs_without_times: untimed, of_projects_off: off } = risks.not_judged;
  return untimed === off && (risks.expected === 0 || runs < risks.expected);
}

export function toHeadline(tonight: Tonight): string {
  const known = tonight.servers.flatMap(({ risks }) => risks ?? []);
  const [atRisk, expected] = [known.map((one) => one.at_risk), known.map((one) => one.expected)].map(toSum);
  const within = `expected within ${tonight.hours} h`;
  if (tonight.servers.length === 0) return 'The other shards have all servers of the configuration';
  if (known.length === 0) return `The runs ${within} are unknown`;
  return `${atRisk?.toLocaleString('en')} of ${toCount(expected ?? 0, 'run')} ${within} ${atRisk === 1 ? 'is' : 'are'} at risk`;
}

function toSum(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
