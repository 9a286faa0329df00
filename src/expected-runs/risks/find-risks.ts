import { toDuration } from '../../domain/ages.ts';
import type { JobNames } from '../../domain/execution.ts';
import { toJobPath } from '../../domain/job.ts';
import type { Pause } from '../../domain/pause.ts';
import { toMostAtOnce } from '../deciding/doubts.ts';
import type { Crowd } from '../deciding/hours-ahead.ts';
import { sourceKeys } from '../deciding/sources.ts';
import { isTimedUntil, timesWithin } from '../deciding/timetable.ts';
import { isOff, type SeenRun, type WatchedJob } from '../deciding/watched-job.ts';
import { findLasting, type Risk, type RiskReason, riskReasons, type Trouble } from './risk.ts';

export type RisksInput = Omit<Trouble, 'path' | 'facts'> & {
  readonly jobs: Iterable<WatchedJob>;
  readonly untilMs: number;
  readonly durationMs: (project: string, group: string, name: string, jobId: string) => number | undefined;
  readonly running: ReadonlyMap<string, readonly SeenRun[]>;
  /** The spans in which more runs are expected than there are threads. */
  readonly crowds: readonly Crowd[];
  readonly areThreadsKnown: boolean;
  readonly isCritical: (path: string) => boolean;
};

/** Runs of one job with the same trouble. */
export type RunsAtRisk = {
  readonly job: JobNames;
  readonly isCritical: boolean;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
  /** The reasons, worst first. */
  readonly reasons: readonly RiskReason[];
  /** The project, node, member or job with the worst trouble. */
  readonly subject: string;
  /** True if the next run of the job is at risk. */
  readonly isNext: boolean;
};

/** One cause, and the runs that it puts at risk. */
export type TroubleAhead = Risk & {
  readonly count: number;
  readonly jobCount: number;
  readonly firstMs: number;
  readonly firstJob: JobNames;
};

export type RisksAhead = {
  readonly nowMs: number;
  readonly untilMs: number;
  readonly jobCount: number;
  readonly expected: number;
  readonly atRisk: number;
  /** The trouble ahead, sorted by first run, then by severity. */
  readonly troubles: readonly TroubleAhead[];
  /** The number of runs at risk for each reason; absent for a reason that cannot be known. */
  readonly byReason: ReadonlyMap<RiskReason, number>;
  /** The runs at risk, sorted by first run. */
  readonly runs: readonly RunsAtRisk[];
  /** The number of runs of jobs without a known past run or node. */
  readonly unjudged: number;
  /** The number of active jobs with unknown times, and how many of these jobs are in switched-off projects. */
  readonly untimed: { readonly count: number; readonly switchedOff: number };
};

/** Finds the runs that known trouble puts at risk, up to a given time. Unknown values are counted, not guessed. */
export async function findRisks(input: RisksInput, pause: Pause): Promise<RisksAhead> {
  const { jobs, nowMs, untilMs, factsOf, isCritical } = input;
  const troubles = new Map<string, Mutable<TroubleAhead>>();
  const runs: RunsAtRisk[] = [];
  const met = new Map<RiskReason, number>();
  const counts = { jobs: 0, expected: 0, atRisk: 0, unjudged: 0, untimed: 0, switchedOff: 0 };
  for (const job of jobs) {
    await pause();
    if (job.goneAtMs !== undefined) continue;
    counts.jobs += 1;
    if (isOff(job)) continue;
    const path = toJobPath(job);
    const facts = factsOf(job.project, job.group, job.name, job.id);
    const lasting = findLasting(job, { ...input, path, facts });
    if (!isTimedUntil(job.timetable, untilMs)) {
      counts.untimed += 1;
      if (lasting.some(({ reason }) => reason.endsWith('_disabled'))) counts.switchedOff += 1;
    }
    if (job.timetable === undefined) continue;
    const timesMs = timesWithin(job.timetable, nowMs, untilMs);
    counts.expected += timesMs.length;
    if ((facts === undefined || job.nodes === undefined) && lasting.length === 0) counts.unjudged += timesMs.length;
    const own = [...lasting.map((risk) => ({ risk, timesMs })), ...findOfTimes(job, { path, timesMs }, input)];
    for (const { risk, timesMs: metMs } of own) addTrouble(troubles, risk, metMs, job);
    for (const times of groupTimes(own)) {
      counts.atRisk += times.count;
      for (const reason of times.reasons) met.set(reason, (met.get(reason) ?? 0) + times.count);
      const { project, group, name } = job;
      runs.push({
        job: { project, group, name },
        isCritical: isCritical(path),
        ...times,
        isNext: times.firstMs === timesMs[0],
      });
    }
  }
  const { expected, atRisk, unjudged, untimed, switchedOff } = counts;
  return {
    nowMs,
    untilMs,
    jobCount: counts.jobs,
    expected,
    atRisk,
    troubles: [...troubles.values()].sort(byTime),
    byReason: countByReason(met, input),
    runs: runs.sort((one, other) => one.firstMs - other.firstMs),
    unjudged,
    untimed: { count: untimed, switchedOff },
  };
}

type Met = { readonly risk: Risk; readonly timesMs: readonly number[] };

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

type TimesOfJob = { readonly path: string; readonly timesMs: readonly number[] };

/** Returns the risks that only some start times of a job have, because of other runs. */
function findOfTimes(job: WatchedJob, { path, timesMs }: TimesOfJob, input: RisksInput): readonly Met[] {
  const met: Met[] = [];
  const durationMs = input.durationMs(job.project, job.group, job.name, job.id);
  const atOnce = toMostAtOnce(job);
  if (durationMs !== undefined && Number.isFinite(atOnce)) {
    const running = input.running.get(job.id) ?? [];
    const skippedMs = findSkipped(timesMs, { ...input, durationMs, running, atOnce });
    const overdue = running.find(({ startedAtMs }) => startedAtMs + durationMs < input.nowMs);
    const usual = { durationMs, limit: toLimit(job, atOnce), atOnce };
    const lastsUntilMs = overdue ? 2 * input.nowMs - overdue.startedAtMs - durationMs : 0;
    const laterMs = skippedMs.filter((time) => time >= lastsUntilMs);
    const soonMs = skippedMs.slice(0, skippedMs.length - laterMs.length);
    if (overdue) met.push({ risk: toOverdue(path, overdue, usual), timesMs: soonMs });
    met.push({ risk: toOverlap(path, usual), timesMs: laterMs });
  }
  met.push({ risk: tooMany, timesMs: findCrowded(timesMs, toCrowdsOf(input.crowds, job.ownerUuid)) });
  return met.filter((each) => each.timesMs.length > 0);
}

function toCrowdsOf(crowds: readonly Crowd[], ownerUuid = ''): readonly Crowd[] {
  // A crowd (a span in which runs start without a free thread) names a member only in a cluster.
  return crowds[0]?.ownerUuid === undefined ? crowds : crowds.filter((crowd) => crowd.ownerUuid === ownerUuid);
}

type Usual = { readonly durationMs: number; readonly atOnce: number };
type Limited = Usual & { readonly limit: string };

function toOverlap(path: string, { durationMs, limit, atOnce }: Limited): Risk {
  const result = atOnce === 1 ? 'longer than the time to its next start' : `so more than ${atOnce} runs would overlap`;
  const text = `${path} usually takes ${toDuration(durationMs)}, ${result}`;
  const evidence = `one run in four takes even longer, and the job ${limit}`;
  return { reason: 'overlap', subject: path, text, sinceMs: undefined, evidence };
}

function toLimit({ definition }: WatchedJob, atOnce: number): string {
  if (definition?.allowsSeveral === undefined) return 'may not allow two runs at once (its definition was not read)';
  return atOnce === 1 ? 'does not allow two runs at once' : `allows only ${atOnce} runs at once`;
}

function toOverdue(path: string, { id, startedAtMs }: SeenRun, { durationMs, limit }: Limited): Risk {
  const text = `${path}, which usually takes ${toDuration(durationMs)}, has been running`;
  const evidence = `#${id} has not ended, and the job ${limit}`;
  return { reason: 'overlap', subject: path, text, sinceMs: startedAtMs, evidence, executionId: id };
}

/** Returns the times that are within crowds. `timesMs` and `crowds` must be sorted. */
function findCrowded(timesMs: readonly number[], crowds: readonly Crowd[]): readonly number[] {
  let place = 0;
  return timesMs.filter((time) => {
    while ((crowds[place]?.toMs ?? Number.POSITIVE_INFINITY) < time) place += 1;
    return (crowds[place]?.fromMs ?? Number.POSITIVE_INFINITY) <= time;
  });
}

const tooMany: Risk = {
  reason: 'saturated',
  subject: '',
  text: 'more runs are expected at the same time than the scheduler has threads',
  sinceMs: undefined,
  evidence: 'timetables and usual durations of all jobs',
};

type Duration = Pick<RisksInput, 'nowMs'> & Usual & { readonly running: readonly SeenRun[] };

/** Returns the times at which the job is expected to have its maximum number of runs. A skipped run does not count. */
function findSkipped(timesMs: readonly number[], { nowMs, durationMs, atOnce, running }: Duration): readonly number[] {
  const expected = running.map(({ startedAtMs }) => startedAtMs + durationMs);
  // A run that is overdue by some time is expected to end after the same time from now.
  const ends = expected.map((endMs) => (endMs < nowMs ? 2 * nowMs - endMs : endMs)).sort((one, other) => one - other);
  return timesMs.filter((time) => {
    while ((ends[0] ?? Number.POSITIVE_INFINITY) <= time) ends.shift();
    if (ends.length >= atOnce) return true;
    // Runs in progress may end after the new run.
    ends.splice(ends.findLastIndex((endMs) => endMs <= time + durationMs) + 1, 0, time + durationMs);
    return false;
  });
}

type Times = Omit<RunsAtRisk, 'job' | 'isCritical' | 'isNext'>;

/** Groups the times of a job by their risks, so that a job that starts each minute is one line. */
function groupTimes(met: readonly Met[]): readonly Times[] {
  const sorted = met.toSorted((one, other) => rank(one.risk) - rank(other.risk));
  const [first] = sorted;
  // A passive server may have hundreds of thousands of times, all with the same risk.
  if (sorted.every(({ timesMs }) => timesMs === first?.timesMs)) return toOneGroup(sorted);
  const metAt = new Map<number, Risk[]>();
  for (const { risk, timesMs } of sorted)
    for (const time of timesMs) metAt.set(time, [...(metAt.get(time) ?? []), risk]);
  const groups = new Map<string, Mutable<Times>>();
  for (const [time, risks] of metAt) {
    const reasons = [...new Set(risks.map(({ reason }) => reason))];
    const subject = risks[0]?.subject ?? '';
    const key = JSON.stringify([subject, ...reasons]);
    const group = groups.get(key) ?? { firstMs: time, lastMs: time, count: 0, reasons, subject };
    group.firstMs = Math.min(group.firstMs, time);
    group.lastMs = Math.max(group.lastMs, time);
    group.count += 1;
    groups.set(key, group);
  }
  return [...groups.values()];
}

function toOneGroup(met: readonly Met[]): readonly Times[] {
  const { risk, timesMs = [] } = met[0] ?? {};
  const [firstMs] = timesMs;
  if (risk === undefined || firstMs === undefined) return [];
  const reasons = [...new Set(met.map(({ risk: { reason } }) => reason))];
  return [{ firstMs, lastMs: timesMs.at(-1) ?? firstMs, count: timesMs.length, reasons, subject: risk.subject }];
}

function rank({ reason }: Risk): number {
  return riskReasons.indexOf(reason);
}

function addTrouble(
  troubles: Map<string, Mutable<TroubleAhead>>,
  risk: Risk,
  timesMs: readonly number[],
  { project, group, name }: WatchedJob,
): void {
  const [firstMs] = timesMs;
  if (firstMs === undefined) return;
  const key = JSON.stringify([risk.reason, risk.subject, risk.executionId]);
  const job = { project, group, name };
  const known = troubles.get(key);
  if (known === undefined) {
    troubles.set(key, { ...risk, count: timesMs.length, jobCount: 1, firstMs, firstJob: job });
    return;
  }
  known.count += timesMs.length;
  known.jobCount += 1;
  if (firstMs >= known.firstMs) return;
  known.firstMs = firstMs;
  known.firstJob = job;
}

function byTime(one: TroubleAhead, other: TroubleAhead): number {
  return one.firstMs - other.firstMs || rank(one) - rank(other);
}

/** Counts runs by reason. Unknown reasons are absent. */
function countByReason(
  met: ReadonlyMap<RiskReason, number>,
  { sources, areThreadsKnown, surroundings }: RisksInput,
): ReadonlyMap<RiskReason, number> {
  const isRead = (begin: string): boolean => [...sources.keys()].some((key) => key.startsWith(begin));
  const areProjectsRead = isRead(sourceKeys.project(''));
  const hidden = [...sources].filter(
    ([key, spans]) => key.startsWith(sourceKeys.member('')) && spans.at(-1)?.value === 'seen',
  );
  const isKnown: Readonly<Partial<Record<RiskReason, boolean>>> = {
    passive: isRead(sourceKeys.mode()),
    owner_gone: hidden.length < 2,
    executions_disabled: areProjectsRead,
    schedule_disabled: areProjectsRead,
    node_gone: surroundings?.areNodesRead === true,
    access: surroundings?.areKeysRead === true,
    child_failing: surroundings?.areDefinitionsRead === true,
    common_cause: surroundings !== undefined,
    saturated: areThreadsKnown,
  };
  return new Map(
    riskReasons.flatMap((reason) =>
      isKnown[reason] === false && !met.has(reason) ? [] : [[reason, met.get(reason) ?? 0] as const],
    ),
  );
}
